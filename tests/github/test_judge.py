"""The judge sees damage, and accepts what the stand-in says undamaged."""

import copy
import dataclasses
import hashlib
import hmac
from typing import Any

import pytest
from githubkit.exception import GraphQLFailed, RequestFailed

from tests.github import faults, judge
from tests.github.conftest import NAME, NUMBER, PULL, Installation, post_review
from tests.github.contracts import spec, webhook_examples
from tests.github.standin import Exchange, Standin

pytestmark = pytest.mark.anyio


async def exchange(standin: Standin, client: Installation, path: str) -> Exchange:
    await client.arequest("GET", path)
    found = standin.requests[-1]
    assert judge.complaints(found) == []
    return found


def damaged(found: Exchange, *path: str | int, value: Any = None, remove: bool = False) -> Exchange:
    body = copy.deepcopy(found.response)
    node = body
    for name in path[:-1]:
        node = node[name]
    if remove:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return dataclasses.replace(found, response=body)


async def test_every_required_field_of_a_pull_request_is_missed(
    standin: Standin, client: Installation
) -> None:
    found = await exchange(standin, client, PULL)
    required = spec()["components"]["schemas"]["pull-request"]["required"]
    assert len(required) > 40
    unseen = [name for name in required if not judge.complaints(damaged(found, name, remove=True))]
    assert unseen == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("number",), "7"),
        (("state",), "ajar"),
        (("user", "url"), "https://api.github.com/users/npu-review[bot]"),
        (("created_at",), "yesterday"),
        (("head", "sha"), None),
        (("draft",), "no"),
    ],
)
async def test_wrong_values_are_seen(
    standin: Standin, client: Installation, path: tuple[str, ...], value: Any
) -> None:
    found = await exchange(standin, client, PULL)
    (complaint,) = judge.complaints(damaged(found, *path, value=value))
    assert "/".join(path) in complaint


async def test_a_wrong_request_is_seen(standin: Standin, client: Installation) -> None:
    await post_review(client, body="hello")
    good = standin.requests[-1]
    bad = dataclasses.replace(good, request={"event": "SHRUG", "body": "hello"})
    assert judge.complaints(good) == []
    assert any("SHRUG" in complaint for complaint in judge.complaints(bad))


async def test_an_unknown_operation_is_refused(standin: Standin, client: Installation) -> None:
    with pytest.raises(RequestFailed):
        await client.arequest("GET", f"{PULL}/nonsense")
    with pytest.raises(judge.InvalidTrafficError, match="no such operation"):
        judge.check([standin.requests.pop()])


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("{ viewer { nonsense } }", "Cannot query field 'nonsense' on type 'User'"),
        ("{ viewer { login }", "Syntax Error"),
        ("{ viewer { bio } }", "the stand-in does not hold User.bio"),
    ],
)
async def test_a_wrong_query_is_refused(
    standin: Standin, client: Installation, query: str, complaint: str
) -> None:
    with pytest.raises(GraphQLFailed):
        await client.async_graphql(query)
    with pytest.raises(judge.InvalidTrafficError, match=complaint):
        judge.check([standin.requests.pop()])


async def test_injected_answers_are_not_judged_but_their_requests_are(
    standin: Standin, client: Installation
) -> None:
    standin.fail_next("GET", PULL, faults.bad_gateway())
    with pytest.raises(RequestFailed):
        await client.arequest("GET", PULL)
    found = standin.requests[-1]
    assert judge.complaints(found) == []
    assert judge.complaints(dataclasses.replace(found, parameters={**found.parameters, "pull_number": "x"}))


PULL_REQUEST_ACTIONS = [
    name.removeprefix("pull-request-").replace("-", "_")
    for name in spec()["x-webhooks"]
    if name.startswith("pull-request-")
]


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("action", PULL_REQUEST_ACTIONS)
def test_pull_request_webhooks_are_github_s(standin: Standin, action: str) -> None:
    webhook = standin.pull_request_event(NAME, NUMBER, action)
    assert judge.webhook_complaints(webhook) == []
    assert webhook.payload["pull_request"]["head"]["sha"] == standin.repository(NAME).git.sha("feature")


@pytest.mark.usefixtures("repository")
def test_a_comment_s_webhook_is_github_s_and_signed(standin: Standin) -> None:
    webhook = standin.comment_event(NAME, NUMBER, "/npu-review", author="maintainer")
    assert judge.webhook_complaints(webhook) == []
    assert webhook.payload["comment"]["user"]["login"] == "maintainer"
    assert "pull_request" in webhook.payload["issue"]
    digest = hmac.new(standin.webhook_secret.encode(), webhook.body, hashlib.sha256).hexdigest()
    assert webhook.headers["X-Hub-Signature-256"] == f"sha256={digest}"
    broken = dataclasses.replace(webhook, body=webhook.body.replace(b'"sender"', b'"render"'))
    assert judge.webhook_complaints(broken)


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("action", ["opened", "synchronize"])
def test_a_deleted_fork_is_null(standin: Standin, action: str) -> None:
    standin.pull(NAME, NUMBER).fork_deleted = True
    webhook = standin.pull_request_event(NAME, NUMBER, action)
    assert judge.webhook_complaints(webhook) == []
    assert webhook.payload["pull_request"]["head"]["repo"] is None


@pytest.mark.usefixtures("repository")
def test_a_suite_s_rerun_is_github_s(standin: Standin) -> None:
    webhook = standin.rerun_all_event(NAME, NUMBER)
    assert judge.webhook_complaints(webhook) == []
    assert webhook.payload["check_suite"]["head_sha"] == standin.repository(NAME).git.sha("feature")


async def test_a_rerun_s_webhook_is_github_s(standin: Standin, client: Installation) -> None:
    run = {"name": "npu-review", "head_sha": standin.repository(NAME).git.sha("feature")}
    await client.arequest("POST", f"/repos/{NAME}/check-runs", json=run)
    webhook = standin.rerun_event(NAME, standin.repository(NAME).check_runs[0])
    assert judge.webhook_complaints(webhook) == []
    assert webhook.payload["check_run"]["name"] == "npu-review"


def test_the_official_examples_are_there() -> None:
    assert {name: len(examples) for name, examples in webhook_examples().items()} == {
        "check_run": 9,
        "check_suite": 9,
        "installation": 7,
        "installation_repositories": 3,
        "issue_comment": 9,
        "ping": 4,
        "pull_request": 29,
        "pull_request_review_comment": 5,
    }
