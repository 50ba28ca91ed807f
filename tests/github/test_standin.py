"""The stand-in through the real client: App, contents, check runs, comments, faults."""

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from githubkit.exception import PrimaryRateLimitExceeded, RequestFailed, SecondaryRateLimitExceeded

from tests.github import faults
from tests.github.conftest import NAME, NUMBER, PULL, Installation, connect, post_review
from tests.github.repository import BareRepository
from tests.github.standin import Standin
from tests.github.state import Token

pytestmark = pytest.mark.anyio

REPOSITORY = f"/repos/{NAME}"


async def get(client: Installation, path: str, **query: Any) -> Any:
    return (await client.arequest("GET", path, params=query)).json()


async def refusal(client: Installation, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    with pytest.raises(RequestFailed) as caught:
        await client.arequest(method, path, json=body)
    return caught.value.response.status_code, caught.value.response.json()


# The App and its tokens


async def test_one_token_serves_all_requests_of_a_job(standin: Standin, client: Installation) -> None:
    await get(client, PULL)
    await get(client, f"{PULL}/files")
    paths = [exchange.path for exchange in standin.requests]
    assert paths == ["/app/installations/99/access_tokens", PULL, f"{PULL}/files"]
    assert standin.requests[0].response["permissions"] == standin.state.permissions
    assert standin.requests[0].response["expires_at"].endswith("Z")


async def test_a_key_of_somebody_else_is_refused(standin: Standin, repository: BareRepository) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    app = connect(standin, key.decode())
    with pytest.raises(RequestFailed) as caught:
        await app.arequest("GET", "/app")
    assert caught.value.response.status_code == 401


async def test_a_revoked_token_is_refused(standin: Standin, client: Installation) -> None:
    await get(client, PULL)
    standin.revoke_tokens()
    assert await refusal(client, "GET", PULL) == (
        401,
        {"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest", "status": "401"},
    )


async def test_a_token_dies_after_an_hour(tmp_path: Path) -> None:
    times = [datetime(2026, 1, 1, tzinfo=UTC)]
    standin = Standin(tmp_path, clock=lambda: times[-1])
    standin.state.tokens["ghs_x"] = Token(standin.state.permissions, times[0] + timedelta(hours=1))
    transport = httpx.ASGITransport(standin.app)
    async with httpx.AsyncClient(transport=transport, base_url="https://api.github.com") as plain:
        for minutes, status in ((0, 200), (59, 200), (60, 401)):
            times.append(times[0] + timedelta(minutes=minutes))
            headers = {"authorization": "token ghs_x"}
            assert (await plain.get("/installation/repositories", headers=headers)).status_code == status


async def test_a_missing_permission_is_named(standin: Standin, client: Installation) -> None:
    standin.state.permissions["checks"] = "read"
    run = {"name": "npu-review", "head_sha": standin.repository(NAME).git.sha("feature")}
    status, body = await refusal(client, "POST", f"{REPOSITORY}/check-runs", run)
    assert (status, body["message"]) == (403, "Resource not accessible by integration")
    assert standin.requests[-1].headers["X-Accepted-GitHub-Permissions"] == "checks=write"


async def test_a_token_for_one_repository_does_not_reach_another(
    standin: Standin, repository: BareRepository
) -> None:
    other = standin.add_repository("octo/other")
    app = connect(standin)
    auth = app.auth.as_installation(standin.installation_id, repository_ids=[other.id])
    async with app.with_auth(auth) as client:
        assert (await get(client, "/installation/repositories"))["total_count"] == 1
        assert (await refusal(client, "GET", PULL))[0] == 404


async def test_deliveries_are_listed_and_sent_again_under_the_same_id(
    standin: Standin, repository: BareRepository
) -> None:
    webhook = standin.pull_request_event(NAME, NUMBER, "opened")
    app = connect(standin)
    (listed,) = (await app.arequest("GET", "/app/hook/deliveries")).json()
    address = f"/app/hook/deliveries/{listed['id']}"
    whole = (await app.arequest("GET", address)).json()
    assert whole["request"]["payload"] == webhook.payload
    await app.arequest("POST", f"{address}/attempts")
    again, first = (await app.arequest("GET", "/app/hook/deliveries")).json()
    assert again["guid"] == first["guid"] == webhook.id
    assert (again["redelivery"], first["redelivery"]) == (True, False)


async def test_a_manifest_code_works_once_and_unauthenticated(standin: Standin) -> None:
    standin.state.manifest_codes.add("code")
    transport = httpx.ASGITransport(standin.app)
    async with httpx.AsyncClient(transport=transport, base_url="https://api.github.com") as plain:
        first = await plain.post("/app-manifests/code/conversions")
        second = await plain.post("/app-manifests/code/conversions")
    assert first.status_code == 201
    assert first.json()["pem"] == standin.private_key
    assert second.status_code == 404


# What git holds


async def test_files_are_the_three_dot_difference(client: Installation) -> None:
    files = {file["filename"]: file for file in await get(client, f"{PULL}/files")}
    assert "README.md" not in files  # only main has it
    assert {name: file["status"] for name, file in files.items()} == {
        "logo.bin": "modified",
        "new.sh": "renamed",
        "run.sh": "modified",
        "sub dir/added.sh": "added",
    }
    assert files["new.sh"]["previous_filename"] == "old.sh"
    assert "patch" not in files["logo.bin"]
    assert files["run.sh"]["patch"].startswith("@@ -17,7 +17,7 @@ line 16\n line 17\n")
    assert files["run.sh"]["patch"].endswith("\n line 23")
    assert files["sub dir/added.sh"]["patch"] == "@@ -0,0 +1 @@\n+echo added\n\\ No newline at end of file"


async def test_files_come_in_pages(standin: Standin, client: Installation) -> None:
    page = await client.arequest("GET", f"{PULL}/files", params={"per_page": 3})
    assert len(page.json()) == 3
    assert f'{PULL}/files?per_page=3&page=2>; rel="next"' in page.headers["link"]
    assert len(await get(client, f"{PULL}/files", per_page=3, page=2)) == 1


async def test_past_the_patch_limit_files_come_bare(standin: Standin, client: Installation) -> None:
    standin.state.patch_line_limit = 12
    bare = {file["filename"]: file for file in await get(client, f"{PULL}/files")}
    assert "patch" in bare["new.sh"]
    assert "patch" not in bare["run.sh"]
    assert bare["run.sh"]["changes"] == 0


async def test_comparison_names_the_merge_base(client: Installation, repository: BareRepository) -> None:
    comparison = await get(client, f"{REPOSITORY}/compare/main...feature")
    assert comparison["merge_base_commit"]["sha"] == repository.merge_base("main", "feature")
    assert comparison["base_commit"]["sha"] == repository.sha("main")
    assert (comparison["status"], comparison["ahead_by"], comparison["behind_by"]) == ("diverged", 1, 1)
    assert len(comparison["files"]) == 4


async def test_a_push_moves_the_head(
    standin: Standin, client: Installation, repository: BareRepository
) -> None:
    before = await get(client, PULL)
    head = repository.commit({"run.sh": "all new\n"}, branch="feature")
    after = await get(client, PULL)
    assert before["head"]["sha"] != after["head"]["sha"] == head
    (found,) = await get(client, f"{REPOSITORY}/commits/{head}/pulls")
    assert found["number"] == NUMBER


async def test_trees_and_blobs_are_those_of_git(
    standin: Standin, client: Installation, repository: BareRepository
) -> None:
    tree = await get(client, f"{REPOSITORY}/git/trees/{repository.sha('feature')}", recursive=1)
    blobs = {entry["path"]: entry for entry in tree["tree"] if entry["type"] == "blob"}
    assert set(blobs) == {"logo.bin", "new.sh", "run.sh", "sub dir/added.sh"}
    assert tree["truncated"] is False
    address = f"{REPOSITORY}/git/blobs/{blobs['logo.bin']['sha']}"
    assert base64.b64decode((await get(client, address))["content"]) == b"\0\2"
    raw = await client.arequest("GET", address, headers={"accept": "application/vnd.github.raw+json"})
    assert raw.content == b"\0\2"
    standin.repository(NAME).tree_limit = 2
    cut = await get(client, f"{REPOSITORY}/git/trees/feature", recursive=1)
    assert (cut["truncated"], len(cut["tree"])) == (True, 2)


async def test_contents_of_a_file_and_of_a_directory(client: Installation) -> None:
    file = await get(client, f"{REPOSITORY}/contents/sub%20dir/added.sh", ref="feature")
    assert base64.b64decode(file["content"]) == b"echo added"
    listing = await get(client, f"{REPOSITORY}/contents/sub%20dir", ref="feature")
    assert [entry["path"] for entry in listing] == ["sub dir/added.sh"]
    assert (await refusal(client, "GET", f"{REPOSITORY}/contents/absent"))[0] == 404


async def test_permission_of_a_collaborator_and_of_a_stranger(client: Installation) -> None:
    for login, permission in (("maintainer", "write"), ("stranger", "read")):
        answer = await get(client, f"{REPOSITORY}/collaborators/{login}/permission")
        assert answer["permission"] == permission


# Check runs


def annotation(line: int) -> dict[str, Any]:
    place = {"path": "run.sh", "start_line": line, "end_line": line}
    return {**place, "annotation_level": "warning", "message": "no"}


async def test_annotations_of_later_updates_are_appended(
    standin: Standin, client: Installation, repository: BareRepository
) -> None:
    head = repository.sha("feature")
    start = {"name": "npu-review", "head_sha": head, "status": "in_progress", "external_id": head}
    run = (await client.arequest("POST", f"{REPOSITORY}/check-runs", json=start)).json()
    address = f"{REPOSITORY}/check-runs/{run['id']}"
    output = {"title": "t", "summary": "s", "annotations": [annotation(line) for line in range(1, 51)]}
    await client.arequest("PATCH", address, json={"output": output})
    output["annotations"] = [annotation(51)]
    await client.arequest("PATCH", address, json={"conclusion": "neutral", "output": output})
    listed = await get(client, f"{REPOSITORY}/commits/{head}/check-runs", check_name="npu-review")
    assert listed["total_count"] == 1
    (shown,) = listed["check_runs"]
    assert (shown["status"], shown["conclusion"], shown["external_id"]) == ("completed", "neutral", head)
    assert shown["output"]["annotations_count"] == 51
    assert len(await get(client, f"{address}/annotations", per_page=100)) == 51


async def test_more_than_50_annotations_are_refused(
    standin: Standin, client: Installation, repository: BareRepository
) -> None:
    output = {"title": "t", "summary": "s", "annotations": [annotation(line) for line in range(1, 52)]}
    run = {"name": "npu-review", "head_sha": repository.sha("feature"), "output": output}
    status, _ = await refusal(client, "POST", f"{REPOSITORY}/check-runs", run)
    assert status == 422
    assert standin.repository(NAME).check_runs == []


@pytest.mark.parametrize("name", ["summary", "text"])
async def test_output_is_limited(client: Installation, repository: BareRepository, name: str) -> None:
    output = {"title": "t", "summary": "s", name: "x" * 65_536}
    run = {"name": "npu-review", "head_sha": repository.sha("feature"), "output": output}
    assert (await refusal(client, "POST", f"{REPOSITORY}/check-runs", run))[0] == 422


# The conversation


async def test_a_comment_is_posted_edited_and_listed(standin: Standin, client: Installation) -> None:
    comments = f"{REPOSITORY}/issues/{NUMBER}/comments"
    posted = (await client.arequest("POST", comments, json={"body": "first"})).json()
    address = f"{REPOSITORY}/issues/comments/{posted['id']}"
    await client.arequest("PATCH", address, json={"body": "second"})
    (listed,) = await get(client, comments)
    assert (listed["body"], listed["user"]["login"]) == ("second", "npu-review[bot]")
    foreign = standin.add_comment(NAME, NUMBER, "mine", author="maintainer")
    foreign_address = f"{REPOSITORY}/issues/comments/{foreign.id}"
    assert (await refusal(client, "PATCH", foreign_address, {"body": "taken"}))[0] == 403
    assert (await refusal(client, "POST", comments, {"body": "x" * 65_537}))[0] == 422


async def test_a_second_equal_reaction_answers_200(standin: Standin, client: Installation) -> None:
    comment = standin.add_comment(NAME, NUMBER, "/npu-review", author="maintainer")
    address = f"{REPOSITORY}/issues/comments/{comment.id}/reactions"
    answers = [await client.arequest("POST", address, json={"content": "eyes"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert len(comment.reactions) == 1


# Faults


async def test_a_bad_gateway_before_the_write_writes_nothing(standin: Standin, client: Installation) -> None:
    standin.fail_next("POST", r"/reviews$", faults.bad_gateway())
    with pytest.raises(RequestFailed):
        await post_review(client, body="hello")
    assert standin.pull(NAME, NUMBER).reviews == []
    await post_review(client, body="hello")
    assert len(standin.pull(NAME, NUMBER).reviews) == 1


async def test_a_dropped_answer_leaves_the_review_posted(standin: Standin, client: Installation) -> None:
    standin.fail_next("POST", r"/reviews$", faults.dropped())
    with pytest.raises(RequestFailed) as caught:
        await post_review(client, body="hello")
    assert caught.value.response.status_code == 502
    assert len(standin.pull(NAME, NUMBER).reviews) == 1


async def test_a_fault_waits_for_its_request(standin: Standin, client: Installation) -> None:
    standin.fail_next("PATCH", r"/check-runs/", faults.bad_gateway())
    assert (await get(client, PULL))["number"] == NUMBER


async def test_limits_are_told_apart(standin: Standin, client: Installation) -> None:
    standin.fail_next("GET", PULL, faults.secondary_limit(retry_after=30))
    with pytest.raises(SecondaryRateLimitExceeded) as secondary:
        await get(client, PULL)
    assert secondary.value.retry_after == timedelta(seconds=30)
    standin.fail_next("GET", PULL, faults.primary_limit(reset=4_000_000_000))
    with pytest.raises(PrimaryRateLimitExceeded):
        await get(client, PULL)
    standin.fail_next("GET", PULL, faults.secondary_limit(retry_after=None))
    assert (await refusal(client, "GET", PULL))[0] == 403
    standin.fail_next("POST", "/graphql", faults.graphql_limit())
    with pytest.raises(PrimaryRateLimitExceeded):
        await client.async_graphql("{viewer{login}}")


async def test_the_head_can_move_between_two_requests(
    standin: Standin, client: Installation, repository: BareRepository
) -> None:
    standin.before_next("GET", PULL, lambda: repository.commit({"run.sh": "moved\n"}, branch="feature"))
    read = repository.sha("feature")
    assert (await get(client, PULL))["head"]["sha"] == repository.sha("feature") != read
