"""Signed webhook requests in GitHub's shape.

https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

import hashlib
import hmac
import json
import uuid
from dataclasses import dataclass
from typing import Any

from tests.github import shapes
from tests.github.issues import comment_shape
from tests.github.state import JSON, HookDelivery, IssueComment, Pull, Repository, State


@dataclass(frozen=True)
class Webhook:
    """One request to the App's webhook address: POST `body` with `headers`."""

    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["X-GitHub-Delivery"]

    @property
    def payload(self) -> JSON:
        payload: JSON = json.loads(self.body)
        return payload


def signature(secret: str, body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def sign(secret: str, event: str, payload: JSON, app_id: int) -> Webhook:
    body = json.dumps(payload).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/0000000",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": str(uuid.uuid4()),
        "X-GitHub-Hook-ID": "1",
        "X-GitHub-Hook-Installation-Target-ID": str(app_id),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-Hub-Signature-256": signature(secret, body),
    }
    return Webhook(headers, body)


def remember(state: State, webhook: Webhook) -> None:
    """Puts the request on the list that `GET /app/hook/deliveries` shows."""
    payload, headers = webhook.payload, webhook.headers
    state.deliveries.append(
        HookDelivery(
            state.new_id(), webhook.id, headers["X-GitHub-Event"], payload.get("action"), headers, payload,
            state.timestamp(),
        )
    )  # fmt: skip


def pull_request_payload(
    state: State, held: Repository, pull: Pull, action: str, sender: str, **extra: Any
) -> JSON:
    """`extra` gives what an action adds: `before` and `after` for synchronize, `changes` for edited."""
    return shapes.shape(
        f"webhook-pull-request-{action.replace('_', '-')}",
        shapes.repository_url(held),
        action=action,
        number=pull.number,
        pull_request=shapes.pull_request(held, pull),
        **_context(state, held, sender),
        **extra,
    )


def issue_comment_payload(state: State, held: Repository, pull: Pull, comment: IssueComment) -> JSON:
    url = shapes.repository_url(held)
    html_url = f"{shapes.WEB}/{held.full_name}/pull/{pull.number}"
    issue = {
        "id": pull.id,
        "number": pull.number,
        "title": pull.title,
        "body": pull.body,
        "state": pull.state,
        "draft": pull.draft,
        "user": shapes.user(pull.author),
        "author_association": pull.association,
        "created_at": pull.created_at,
        "updated_at": pull.created_at,
        "url": f"{url}/issues/{pull.number}",
        "html_url": html_url,
        "pull_request": {
            "url": f"{url}/pulls/{pull.number}",
            "html_url": html_url,
            "diff_url": f"{html_url}.diff",
            "patch_url": f"{html_url}.patch",
        },
    }
    return shapes.shape(
        "webhook-issue-comment-created",
        url,
        action="created",
        issue=issue,
        comment=comment_shape(held, pull, comment),
        **_context(state, held, comment.author),
    )


def check_run_payload(state: State, held: Repository, run: JSON, sender: str) -> JSON:
    """A person's "Re-run"; `run` is the check run as the API shows it."""
    suite = {"id": run["check_suite"]["id"], "head_sha": run["head_sha"]}
    return shapes.shape(
        "webhook-check-run-rerequested",
        shapes.repository_url(held),
        action="rerequested",
        check_run=run | {"check_suite": suite},
        **_context(state, held, sender),
    )


def check_suite_payload(state: State, held: Repository, pull: Pull, sender: str) -> JSON:
    """A person's "Re-run all checks" on the pull request's head."""
    head = held.head(pull)
    suite = {
        "id": int(head[:8], 16),
        "head_sha": head,
        "head_branch": pull.head,
        "status": "queued",
        "conclusion": None,
        "before": held.base(pull),
        "after": head,
        "app": shapes.app(state),
    }
    return shapes.shape(
        "webhook-check-suite-rerequested",
        shapes.repository_url(held),
        action="rerequested",
        check_suite=suite,
        **_context(state, held, sender),
    )


def _context(state: State, held: Repository, sender: str) -> JSON:
    return {
        "repository": shapes.repository(held, "repository-webhooks"),
        "installation": {"id": state.installation_id, "node_id": f"I_{state.installation_id}"},
        "sender": shapes.user(sender),
    }
