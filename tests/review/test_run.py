"""The main job on the stand-in: what is posted, how often, and what happens when GitHub fails."""

from __future__ import annotations

import pytest

from app.errors import TryLater
from app.review.run import Reviewer, ReviewRequest
from tests.github import faults
from tests.github.call import Answer
from tests.github.repository import BareRepository
from tests.github.standin import Standin
from tests.mini import REF_CONFIG, SCRIPT, edited, head_files, not_inheriting
from tests.review.conftest import NAME, NUMBER, review, sent

pytestmark = pytest.mark.anyio
PULL = f"/repos/{NAME}/pulls/{NUMBER}"


async def test_the_example_of_the_mission(standin: Standin, git: BareRepository, reviewer: Reviewer) -> None:
    outcome = await review(reviewer)
    (post,) = sent(standin, "POST", "/reviews")
    assert post.status == 200
    assert post.request["event"] == "COMMENT"
    assert post.request["commit_id"] == git.sha("feature")
    (comment,) = post.request["comments"]
    assert (comment["path"], comment["start_line"], comment["line"], comment["side"]) == (
        SCRIPT,
        35,
        38,
        "RIGHT",
    )
    body = comment["body"]
    assert "🟡 **Low** · `role-parity`" in body
    assert "`moe_router_dtype`, `moe_permute_fusion` and `apply_rope_fusion`" in body
    assert f"`{REF_CONFIG}:10`" in body
    assert "No reference model is built" in body
    assert "detach the rest" in body
    assert "```suggestion" not in body
    (done,) = sent(standin, "PATCH", f"/check-runs/{outcome.check_run}")
    assert (done.request["conclusion"], done.request["output"]["title"]) == (
        "neutral",
        "1 finding in 2 launches",
    )


async def test_a_review_needs_at_most_eight_requests_with_a_warm_token(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    await review(reviewer)
    git.commit({"tests/note.txt": "x\n"}, branch="feature")
    first = [each for each in standin.requests if not each.path.endswith("/access_tokens")]
    listed = [f"{each.method} {each.template or each.path}" for each in first]
    print("\n".join(listed))  # noqa: T201 - the list is part of what this test shows
    assert len(standin.requests) - len(first) == 1
    assert listed == [
        "POST /graphql",
        "POST /repos/{owner}/{repo}/check-runs",
        "GET /repos/{owner}/{repo}/compare/{basehead}",
        "GET /repos/{owner}/{repo}/git/trees/{tree_sha}",
        "GET /repos/{owner}/{repo}/git/trees/{tree_sha}",
        "POST /graphql",
        "POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews",
        "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}",
    ]


async def test_a_suggestion_that_adds_the_missing_keys(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    files = not_inheriting(head_files())
    git.commit({REF_CONFIG: files[REF_CONFIG]}, branch="feature")
    await review(reviewer)
    ((comment,),) = [post.request["comments"] for post in sent(standin, "POST", "/reviews")]
    assert (comment["line"], "start_line" in comment) == (38, False)
    assert "🟠 **Medium**" in comment["body"]
    assert (
        "```suggestion\n"
        "    actor_rollout_ref.ref.megatron.param_offload=True\n"
        "    +actor_rollout_ref.ref.megatron.override_transformer_config.apply_rope_fusion=True\n"
    ) in comment["body"]


async def test_kl_on_makes_it_high(standin: Standin, git: BareRepository, reviewer: Reviewer) -> None:
    files = edited(not_inheriting(head_files()), SCRIPT, "use_kl_loss=False", "use_kl_loss=True")
    git.commit({REF_CONFIG: files[REF_CONFIG], SCRIPT: files[SCRIPT]}, branch="feature")
    await review(reviewer)
    ((comment,),) = [post.request["comments"] for post in sent(standin, "POST", "/reviews")]
    assert "🔴 **High** · `role-parity`" in comment["body"]


async def test_the_second_run_on_the_same_head_posts_nothing_and_reuses_the_check_run(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    first = await review(reviewer)
    second = await review(reviewer)
    assert len(sent(standin, "POST", "/reviews")) == 1
    assert len(sent(standin, "POST", "/check-runs")) == 1
    assert first.check_run == second.check_run
    assert second.review is None


async def test_a_new_head_gets_its_own_check_run_and_no_second_comment(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    await review(reviewer)
    git.commit({"tests/note.txt": "x\n"}, branch="feature")
    await review(reviewer)
    assert len(sent(standin, "POST", "/reviews")) == 1
    assert len(sent(standin, "POST", "/check-runs")) == 2


async def test_a_pull_request_without_findings_gets_a_green_check_and_no_comment(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    git.commit({"docs.md": "x\n"}, branch="other", start="main")
    standin.open_pull(NAME, 8, "main", "other")
    outcome = await reviewer.review(ReviewRequest(99, NAME, 8))
    assert sent(standin, "POST", "/reviews") == []
    (done,) = sent(standin, "PATCH", f"/check-runs/{outcome.check_run}")
    assert (done.request["conclusion"], done.request["output"]["title"]) == ("success", "No launch in scope")


async def test_a_finding_on_lines_outside_the_diff_becomes_an_annotation(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    files = edited(head_files(), SCRIPT, "use_kl_loss=False", "use_kl_loss=True")
    git.commit({SCRIPT: files[SCRIPT]}, branch="inheriting", start="feature")
    git.commit({REF_CONFIG: not_inheriting(files)[REF_CONFIG]}, branch="change", start="inheriting")
    standin.open_pull(NAME, 9, "inheriting", "change")
    outcome = await reviewer.review(ReviewRequest(99, NAME, 9))
    assert sent(standin, "POST", "/reviews") == []
    (done,) = sent(standin, "PATCH", f"/check-runs/{outcome.check_run}")
    (annotation,) = done.request["output"]["annotations"]
    assert (annotation["path"], annotation["start_line"], annotation["annotation_level"]) == (
        SCRIPT,
        35,
        "failure",
    )


async def test_a_head_that_moves_while_reading_starts_again(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    standin.before_next("GET", r"/compare/", lambda: git.commit({"note": "x"}, branch="feature"))
    outcome = await review(reviewer)
    assert outcome.head == git.sha("feature")
    (post,) = sent(standin, "POST", "/reviews")
    assert post.request["commit_id"] == git.sha("feature")


@pytest.mark.parametrize("path", ["/graphql", r"/check-runs$", r"/reviews$", r"/check-runs/\d+"])
async def test_a_server_error_on_a_write_is_tried_later_and_nothing_is_doubled(
    standin: Standin, git: BareRepository, reviewer: Reviewer, path: str
) -> None:
    method = "PATCH" if path.endswith("+") else "POST"
    standin.fail_next(method, path, faults.bad_gateway())
    with pytest.raises(TryLater):
        await review(reviewer)
    await review(reviewer)
    assert len([post for post in sent(standin, "POST", "/reviews") if post.status == 200]) == 1


async def test_a_review_that_was_posted_although_the_answer_was_502_is_not_posted_again(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    standin.fail_next("POST", r"/reviews$", faults.dropped())
    with pytest.raises(TryLater):
        await review(reviewer)
    await review(reviewer)
    assert len(sent(standin, "POST", "/reviews")) == 1


async def test_a_get_is_repeated_at_once(standin: Standin, git: BareRepository, reviewer: Reviewer) -> None:
    standin.fail_next("GET", r"/compare/", faults.bad_gateway())
    outcome = await review(reviewer)
    assert outcome.review is not None


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [(faults.secondary_limit(17), 17.0), (faults.secondary_limit(None), 60.0)],
    ids=["retry-after", "no retry-after"],
)
async def test_a_rate_limit_is_left_to_the_queue(
    standin: Standin, git: BareRepository, reviewer: Reviewer, fault: object, seconds: float
) -> None:
    standin.fail_next("POST", r"/reviews$", fault)  # type: ignore[arg-type]
    with pytest.raises(TryLater) as caught:
        await review(reviewer)
    assert caught.value.seconds == seconds


async def test_a_revoked_token_is_dropped(standin: Standin, git: BareRepository, reviewer: Reviewer) -> None:
    await review(reviewer)
    standin.revoke_tokens()
    with pytest.raises(TryLater, match="401"):
        await review(reviewer)
    assert (await review(reviewer)).head == git.sha("feature")


async def test_a_command_by_a_collaborator_is_seen_and_run(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    comment = standin.add_comment(NAME, NUMBER, "/npu-review", author="maintainer")
    outcome = await review(reviewer, command_comment=comment.id, commanded_by="maintainer")
    assert outcome.review is not None
    assert [each.request["content"] for each in sent(standin, "POST", "/reactions")] == ["eyes"]


async def test_a_command_by_somebody_else_is_not_run(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    comment = standin.add_comment(NAME, NUMBER, "/npu-review", author="passer-by")
    outcome = await review(reviewer, command_comment=comment.id, commanded_by="passer-by")
    assert outcome.head is None
    assert sent(standin, "POST", "/check-runs") == []


async def test_a_closed_pull_request_and_a_draft_are_left_alone(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    standin.pull(NAME, NUMBER).draft = True
    assert "draft" in (await review(reviewer)).note
    comment = standin.add_comment(NAME, NUMBER, "/npu-review", author="maintainer")
    commanded = await review(reviewer, command_comment=comment.id, commanded_by="maintainer")
    assert commanded.review is not None


async def test_a_worker_that_dies_is_said_in_the_check_run(
    standin: Standin, git: BareRepository, reviewer: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("checks.sandbox.START", "raise SystemExit(7)  # {root}")
    outcome = await review(reviewer)
    (done,) = sent(standin, "PATCH", f"/check-runs/{outcome.check_run}")
    assert (done.request["conclusion"], done.request["output"]["title"]) == ("neutral", "Not reviewed")
    assert "ended with code 7" in done.request["output"]["summary"]


async def test_files_that_are_no_text_are_not_checked_and_the_rest_is_reviewed(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    git.commit({"tests/special_npu/latin_npu.sh": b"# \xe9\n", "tests/special_npu/big_npu.sh": "#" * 300_000},
               branch="feature")  # fmt: skip
    outcome = await review(reviewer)
    assert outcome.report is not None
    reasons = {each.path: each.reason for each in outcome.report.not_checked}
    assert "not UTF-8" in reasons["tests/special_npu/latin_npu.sh"]
    assert "300000 bytes" in reasons["tests/special_npu/big_npu.sh"]
    assert len(outcome.report.findings) == 1


async def test_an_answer_of_another_shape_is_tried_later(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    standin.fail_next("GET", r"/git/trees/", faults.Fault(lambda _: Answer({"tree": "none"})))
    with pytest.raises(TryLater, match="not understood"):
        await review(reviewer)


async def test_giving_up_completes_the_check_run(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    standin.fail_next("GET", r"/git/trees/", faults.secondary_limit(5))
    with pytest.raises(TryLater):
        await review(reviewer)
    await reviewer.give_up(ReviewRequest(99, NAME, NUMBER), "given up: GitHub answers 502")
    (run,) = standin.repository(NAME).check_runs
    assert (run.status, run.conclusion, run.output["title"]) == ("completed", "neutral", "Not reviewed")


async def test_the_check_run_of_a_superseded_head_is_completed(
    standin: Standin, git: BareRepository, reviewer: Reviewer
) -> None:
    standin.before_next("GET", r"/compare/", lambda: git.commit({"note": "x"}, branch="feature"))
    await review(reviewer)
    assert [run.status for run in standin.repository(NAME).check_runs] == ["completed", "completed"]
