"""The steps of one review of one pull request, from reading its head to the completed check run."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from app.errors import HeadMoved, Refused, TryLater
from app.github import check_runs
from app.github.client import GitHubApp, Installation
from app.github.permissions import may_command, react
from app.github.pulls import PullRequest, read_pull_request
from app.github.reviews import InlineComment, post_review
from app.github.snapshot import BlobReader, Comparison, compare, read_tree
from app.review.place import Anchor, hunks, place
from app.review.reconcile import not_told
from app.review.render import Links, comment, not_reviewed, output
from checks.model import Finding, Report
from checks.sandbox import Request, SandboxFailed, Worker
from checks.scope import likely_needed
from checks.snapshot import MAX_FILE_BYTES, Snapshot

MAX_STARTS = 3
MAX_COMMENTS = 50
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """Which pull request to review, and for a command who gave it in which comment."""

    installation_id: int
    full_name: str
    number: int
    command_comment: int | None = None
    commanded_by: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewOutcome:
    """What one run did: for the store and for the log. ``head`` is None when nothing was to be reviewed."""

    note: str
    head: str | None = None
    merge_base: str | None = None
    check_run: int | None = None
    review: int | None = None
    report: Report | None = None


class Reviewer:
    """Reviews pull requests as one App. ``web`` is the address of the site that links point to."""

    def __init__(self, app: GitHubApp, web: str = "https://github.com") -> None:
        self.app = app
        self.web = web

    async def review(self, request: ReviewRequest) -> ReviewOutcome:
        """One review on the current head. Raises TryLater; everything else becomes an outcome."""
        async with self.app.installation(request.installation_id) as github:
            if request.command_comment is not None and not await self._accept(github, request):
                return ReviewOutcome("the command came from somebody without triage permission")
            for _ in range(MAX_STARTS):
                try:
                    return await self._once(github, request)
                except HeadMoved:
                    log.info("%s#%d: the head moved, starting again", request.full_name, request.number)
            raise TryLater("the head keeps moving", 30.0)

    async def give_up(self, request: ReviewRequest, reason: str) -> None:
        """Complete the check run of the current head as not reviewed. Raises TryLater or Refused."""
        async with self.app.installation(request.installation_id) as github:
            pull = await read_pull_request(github, request.full_name, request.number)
            if pull.is_open and pull.check_run is not None:
                output_ = not_reviewed(pull.head, reason)
                await check_runs.complete(github, request.full_name, pull.check_run, output_)

    async def _accept(self, github: Installation, request: ReviewRequest) -> bool:
        assert request.command_comment is not None
        if not await may_command(github, request.full_name, request.commanded_by or ""):
            return False
        try:
            await react(github, request.full_name, request.command_comment, "eyes")
        except Refused as error:
            log.warning("no reaction: %s", error)
        return True

    async def _once(self, github: Installation, request: ReviewRequest) -> ReviewOutcome:
        pull = await read_pull_request(github, request.full_name, request.number)
        if not pull.is_open:
            return ReviewOutcome("the pull request is closed")
        if pull.is_draft and request.command_comment is None:
            return ReviewOutcome("the pull request is a draft")
        check_run = await check_runs.start(github, request.full_name, pull.head, pull.check_run)
        try:
            return await self._reviewed(github, request, pull, check_run)
        except HeadMoved:
            superseded = not_reviewed(pull.head, "the pull request has a newer head")
            await check_runs.complete(github, request.full_name, check_run, superseded)
            raise
        except (Refused, SandboxFailed) as error:
            log.warning("%s#%d not reviewed: %s", request.full_name, request.number, error)
            await check_runs.complete(
                github, request.full_name, check_run, not_reviewed(pull.head, str(error))
            )
            return ReviewOutcome(f"not reviewed: {error}", head=pull.head, check_run=check_run)

    async def _reviewed(
        self, github: Installation, request: ReviewRequest, pull: PullRequest, check_run: int
    ) -> ReviewOutcome:
        comparison, head = await asyncio.gather(
            compare(github, request.full_name, pull.number, pull.base, pull.head),
            read_tree(github, request.full_name, pull.head),
        )
        base = await read_tree(github, request.full_name, comparison.merge_base)
        reader = BlobReader(github, request.full_name, pull.number, pull.head)
        report = await judge(head, base, reader)
        links = Links(self.web, request.full_name, pull.head)
        review, unplaced = await self._post(github, request, pull, comparison, report, links)
        done = output(report, pull.head, unplaced, links)
        await check_runs.complete(github, request.full_name, check_run, done)
        return ReviewOutcome(done.title, pull.head, comparison.merge_base, check_run, review, report)

    async def _post(
        self,
        github: Installation,
        request: ReviewRequest,
        pull: PullRequest,
        comparison: Comparison,
        report: Report,
        links: Links,
    ) -> tuple[int | None, list[Finding]]:
        """At most one review with what was not told before; the findings that have no line in the diff."""
        diff = hunks(comparison.files)
        placed: list[tuple[Finding, Anchor]] = []
        unplaced: list[Finding] = []
        for finding in report.findings:
            anchor = place(finding, diff)
            if anchor is None:
                unplaced.append(finding)
            else:
                placed.append((finding, anchor))
        new = set(not_told((finding for finding, _ in placed), pull.own_comments))
        fresh = [(finding, anchor) for finding, anchor in placed if finding in new]
        unplaced += [finding for finding, _ in fresh[MAX_COMMENTS:]]
        comments = [
            InlineComment(
                anchor.path, anchor.line, anchor.start_line, comment(finding, anchor, links, pull.head)
            )
            for finding, anchor in fresh[:MAX_COMMENTS]
        ]
        if not comments:
            return None, unplaced
        try:
            review = await post_review(github, request.full_name, pull.number, pull.head, comments)
        except Refused as error:
            # GitHub refused a line that our hunks have: nothing was posted, the check run carries it all.
            log.warning("%s#%d: review refused: %s", request.full_name, request.number, error)
            return None, unplaced + [finding for finding, _ in fresh[:MAX_COMMENTS]]
        return review, unplaced


async def judge(head: Snapshot, base: Snapshot, reader: BlobReader) -> Report:
    """The report from a fresh worker, fed with the files it asks for. Raises SandboxFailed and as reader."""
    request = Request(head, base)
    blobs = await reader.read(_first_blobs(head, base))
    with await asyncio.to_thread(Worker, request) as worker:
        while True:
            answer = await asyncio.to_thread(worker.ask, blobs)
            if isinstance(answer, Report):
                return answer
            blobs = await reader.read(answer)


def _first_blobs(head: Snapshot, base: Snapshot) -> list[str]:
    """Blobs of both sides that a review most likely reads; most are the same on both."""
    changed = frozenset(path for path in {*head.tree, *base.tree} if head.blob_id(path) != base.blob_id(path))
    entries = [side.tree[path] for side in (head, base) for path in likely_needed(side.tree, changed)]
    read = [entry for entry in entries if entry.mode.startswith("100")]
    return [entry.blob for entry in read if (entry.size or 0) <= MAX_FILE_BYTES]
