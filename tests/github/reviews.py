"""Reviews and their line comments: a review with one bad line is refused as a whole."""

from typing import NoReturn

from tests.github import shapes
from tests.github.call import BODY_LIMIT, REPOSITORY, Answer, Call, Operation, Refused, not_found, page_of
from tests.github.hunks import Hunk, hunks
from tests.github.pulls import PULL, changed_files
from tests.github.state import JSON, Pull, Repository, Review, ReviewComment, Thread
from tests.github.threads import present_line

_STATES = {"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}
_SIDES = ("LEFT", "RIGHT")


def create_review(call: Call) -> Answer:
    """Answers 200, or 422 naming what is wrong but not which comment; nothing is stored then.

    https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request
    """
    held, pull, state = call.repository, call.pull, call.state
    event, body = call.body.get("event"), call.body.get("body") or ""
    commit = call.body.get("commit_id") or held.head(pull)
    entries = call.body.get("comments") or []
    problems = _review_problems(held, pull, state.bot, event, body, commit, entries)
    if problems:
        _unprocessable(problems)
    review = Review(
        state.new_id(), state.bot, _STATES.get(event or "", "PENDING"), body, commit, state.timestamp()
    )
    pull.reviews.append(review)
    for entry in entries:
        comment = ReviewComment(
            id=state.new_id(),
            review=review.id,
            author=state.bot,
            body=entry["body"],
            path=entry["path"],
            side=entry.get("side", "RIGHT"),
            line=entry["line"],
            start_line=entry.get("start_line"),
            start_side=_start_side(entry),
            commit=commit,
            created_at=state.timestamp(),
        )
        pull.threads.append(Thread(f"PRRT_{state.new_id()}", [comment]))
    return Answer(_review_shape(held, pull, review))


def _start_side(entry: JSON) -> str | None:
    return entry.get("start_side", entry.get("side", "RIGHT")) if entry.get("start_line") else None


def _review_problems(
    held: Repository, pull: Pull, bot: str, event: str | None, body: str, commit: str, entries: list[JSON]
) -> list[str]:
    if event is not None and event not in _STATES:
        return [f"Variable $event of type PullRequestReviewEvent was provided invalid value {event}"]
    if event is None and any(one.state == "PENDING" and one.author == bot for one in pull.reviews):
        return ["User can only have one pending review per pull request"]
    if event in ("COMMENT", "REQUEST_CHANGES") and not body and not (entries and event == "COMMENT"):
        return ["Body can't be blank"]
    if len(body) > BODY_LIMIT:
        return [f"Body is too long (maximum is {BODY_LIMIT} characters)"]
    if commit not in held.git.commits_between(held.base(pull), held.head(pull)):
        return ["The commit_id is not part of the pull request"]
    shown = {file.path: hunks(file.patch) for file in changed_files(held, pull, commit)}
    return [problem for entry in entries for problem in comment_problems(entry, shown)]


def comment_problems(entry: JSON, shown: dict[str, list[Hunk]]) -> list[str]:
    """What GitHub holds against one line comment, given the hunks of the diff by path."""
    body, path, line = entry.get("body"), entry.get("path"), entry.get("line")
    side: str = entry.get("side") or "RIGHT"
    start = entry.get("start_line")
    if not body or not str(body).strip():
        return ["Body can't be blank"]
    if len(body) > BODY_LIMIT:
        return [f"Body is too long (maximum is {BODY_LIMIT} characters)"]
    if path not in shown:
        return ["Path could not be resolved"]
    if side not in _SIDES or not isinstance(line, int):
        return ["Line could not be resolved"]
    hunk = next((hunk for hunk in shown[path] if hunk.shows(side, line)), None)
    if hunk is None:
        return ["Line could not be resolved"]
    if start is None:
        return []
    if not isinstance(start, int) or start >= line:
        return ["Pull request review thread start line must precede the end line."]
    if not hunk.shows(entry.get("start_side") or side, start):
        return ["Pull request review thread start line must be part of the same hunk as the line."]
    return []


def _unprocessable(problems: list[str]) -> NoReturn:
    raise Refused(422, "Unprocessable Entity", problems)


def list_reviews(call: Call) -> Answer:
    page, headers = page_of(call, call.pull.reviews)
    return Answer([_review_shape(call.repository, call.pull, one) for one in page], headers=headers)


def list_comments(call: Call) -> Answer:
    held, pull = call.repository, call.pull
    pending = {review.id for review in pull.reviews if review.state == "PENDING"}
    visible = [
        (thread, comment)
        for thread in pull.threads
        for comment in thread.comments
        if comment.review not in pending
    ]
    page, headers = page_of(call, visible)
    return Answer([comment_shape(held, pull, *one) for one in page], headers=headers)


def update_comment(call: Call) -> Answer:
    pull, thread, comment = _known_comment(call)
    if comment.author != call.state.bot:
        raise Refused(403, "Resource not accessible by integration")
    comment.body = _body(call)
    return Answer(comment_shape(call.repository, pull, thread, comment))


def reply(call: Call) -> Answer:
    """A reply goes to the thread's first comment, whichever of its comments is named."""
    held, pull, state = call.repository, call.pull, call.state
    known_pull, thread, _ = _known_comment(call)
    if known_pull is not pull:
        not_found()
    comment = add_reply(thread, state.new_id(), state.bot, _body(call), state.timestamp())
    return Answer(comment_shape(held, pull, thread, comment), 201)


def add_reply(thread: Thread, comment_id: int, author: str, body: str, created_at: str) -> ReviewComment:
    first = thread.comments[0]
    comment = ReviewComment(
        comment_id, first.review, author, body, first.path, first.side, first.line,
        first.start_line, first.start_side, first.commit, created_at,
    )  # fmt: skip
    thread.comments.append(comment)
    return comment


def _known_comment(call: Call) -> tuple[Pull, Thread, ReviewComment]:
    wanted = int(call.path["comment_id"])
    for pull in call.repository.pulls.values():
        for thread in pull.threads:
            for comment in thread.comments:
                if comment.id == wanted:
                    return pull, thread, comment
    return not_found()


def _body(call: Call) -> str:
    body = call.body.get("body")
    if not isinstance(body, str) or not body.strip():
        _unprocessable(["Body can't be blank"])
    if len(body) > BODY_LIMIT:
        _unprocessable([f"Body is too long (maximum is {BODY_LIMIT} characters)"])
    return body


def _review_shape(held: Repository, pull: Pull, review: Review) -> JSON:
    address = f"{shapes.repository_url(held)}/pulls/{pull.number}"
    html = f"{shapes.WEB}/{held.full_name}/pull/{pull.number}#pullrequestreview-{review.id}"
    values = {
        "id": review.id,
        "node_id": f"PRR_{review.id}",
        "user": shapes.user(review.author),
        "body": review.body,
        "state": review.state,
        "commit_id": review.commit,
        "html_url": html,
        "pull_request_url": address,
        "_links": {"html": {"href": html}, "pull_request": {"href": address}},
        "author_association": "NONE",
    }
    if review.state != "PENDING":
        values["submitted_at"] = review.submitted_at
    return shapes.shape("pull-request-review", f"{address}/reviews/{review.id}", **values)


def comment_shape(held: Repository, pull: Pull, thread: Thread, comment: ReviewComment) -> JSON:
    """`line` is null and `original_line` remains once the comment is outdated."""
    pull_url = f"{shapes.repository_url(held)}/pulls/{pull.number}"
    address = f"{shapes.repository_url(held)}/pulls/comments/{comment.id}"
    html = f"{shapes.WEB}/{held.full_name}/pull/{pull.number}#discussion_r{comment.id}"
    line = present_line(held, pull, comment)
    start = present_line(held, pull, comment, comment.start_line) if comment.start_line else None
    values = {
        "id": comment.id,
        "node_id": f"PRRC_{comment.id}",
        "pull_request_review_id": comment.review,
        "body": comment.body,
        "path": comment.path,
        "side": comment.side,
        "line": line,
        "start_line": start,
        "start_side": comment.start_side,
        "original_line": comment.line,
        "original_start_line": comment.start_line,
        "commit_id": held.head(pull) if line else comment.commit,
        "original_commit_id": comment.commit,
        "user": shapes.user(comment.author),
        "author_association": "NONE",
        "created_at": comment.created_at,
        "updated_at": comment.created_at,
        "html_url": html,
        "pull_request_url": pull_url,
        "_links": {
            "self": {"href": address},
            "html": {"href": html},
            "pull_request": {"href": pull_url},
        },
    }
    if comment is not thread.comments[0]:
        values["in_reply_to_id"] = thread.comments[0].id
    return shapes.shape("pull-request-review-comment", address, **values)


OPERATIONS = [
    Operation("POST", f"{PULL}/reviews", create_review, needs="pull_requests=write"),
    Operation("GET", f"{PULL}/reviews", list_reviews, needs="pull_requests=read"),
    Operation("GET", f"{PULL}/comments", list_comments, needs="pull_requests=read"),
    Operation("POST", f"{PULL}/comments/{{comment_id}}/replies", reply, needs="pull_requests=write"),
    Operation(
        "PATCH",
        f"{REPOSITORY}/pulls/comments/{{comment_id}}",
        update_comment,
        needs="pull_requests=write",
    ),
]
