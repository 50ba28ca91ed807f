"""Comments on the pull request's conversation, and reactions to them."""

from tests.github import shapes
from tests.github.call import (
    BODY_LIMIT,
    REPOSITORY,
    Answer,
    Call,
    Operation,
    Refused,
    invalid,
    not_found,
    page_of,
)
from tests.github.state import JSON, IssueComment, Pull, Repository

REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def comment_shape(held: Repository, pull: Pull, comment: IssueComment) -> JSON:
    issue_url = f"{shapes.repository_url(held)}/issues/{pull.number}"
    return shapes.shape(
        "issue-comment",
        f"{shapes.repository_url(held)}/issues/comments/{comment.id}",
        id=comment.id,
        node_id=f"IC_{comment.id}",
        body=comment.body,
        user=shapes.user(comment.author),
        author_association=comment.association,
        created_at=comment.created_at,
        updated_at=comment.created_at,
        issue_url=issue_url,
        html_url=f"{shapes.WEB}/{held.full_name}/pull/{pull.number}#issuecomment-{comment.id}",
    )


def list_comments(call: Call) -> Answer:
    page, headers = page_of(call, call.pull.comments)
    return Answer([comment_shape(call.repository, call.pull, one) for one in page], headers=headers)


def create_comment(call: Call) -> Answer:
    state = call.state
    comment = IssueComment(state.new_id(), state.bot, _body(call), "NONE", state.timestamp())
    call.pull.comments.append(comment)
    return Answer(comment_shape(call.repository, call.pull, comment), 201)


def get_comment(call: Call) -> Answer:
    return Answer(comment_shape(call.repository, *_known(call)))


def update_comment(call: Call) -> Answer:
    pull, comment = _known(call)
    if comment.author != call.state.bot:
        raise Refused(403, "Resource not accessible by integration")
    comment.body = _body(call)
    return Answer(comment_shape(call.repository, pull, comment))


def create_reaction(call: Call) -> Answer:
    """201 for a new reaction, 200 for one that is already there."""
    _, comment = _known(call)
    content, bot = call.body.get("content"), call.state.bot
    if content not in REACTIONS:
        invalid(f"content must be one of {', '.join(REACTIONS)}")
    known = (bot, content) in comment.reactions
    reaction_id = comment.reactions.setdefault((bot, content), call.state.new_id())
    body = shapes.shape(
        "reaction",
        shapes.API,
        id=reaction_id,
        node_id=f"REA_{reaction_id}",
        user=shapes.user(bot),
        content=content,
        created_at=call.state.timestamp(),
    )
    return Answer(body, 200 if known else 201)


def _known(call: Call) -> tuple[Pull, IssueComment]:
    wanted = int(call.path["comment_id"])
    for pull in call.repository.pulls.values():
        for comment in pull.comments:
            if comment.id == wanted:
                return pull, comment
    return not_found()


def _body(call: Call) -> str:
    body = call.body.get("body")
    if not isinstance(body, str) or not body.strip():
        invalid("Body can't be blank")
    if len(body) > BODY_LIMIT:
        invalid(f"Body is too long (maximum is {BODY_LIMIT} characters)")
    return body


# On a pull request, `issues: write` alone does not suffice for a comment: github/rest-api-description#6994
OPERATIONS = [
    Operation(
        "GET",
        f"{REPOSITORY}/issues/{{issue_number}}/comments",
        list_comments,
        needs="issues=read; pull_requests=read",
    ),
    Operation(
        "POST",
        f"{REPOSITORY}/issues/{{issue_number}}/comments",
        create_comment,
        needs="pull_requests=write",
    ),
    Operation(
        "GET",
        f"{REPOSITORY}/issues/comments/{{comment_id}}",
        get_comment,
        needs="issues=read; pull_requests=read",
    ),
    Operation(
        "PATCH",
        f"{REPOSITORY}/issues/comments/{{comment_id}}",
        update_comment,
        needs="pull_requests=write",
    ),
    Operation(
        "POST",
        f"{REPOSITORY}/issues/comments/{{comment_id}}/reactions",
        create_reaction,
        needs="issues=write; pull_requests=write",
    ),
]
