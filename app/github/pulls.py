"""A pull request as one GraphQL query tells it: its head, our earlier comments, our check run."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import Field

from app.errors import Refused
from app.github.client import Installation, Model

CHECK_NAME = "npu-review"
QUERY = """
query PullRequest($owner: String!, $name: String!, $number: Int!, $check: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      state
      isDraft
      headRefOid
      baseRefOid
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { comments(first: 1) { nodes { fullDatabaseId body viewerDidAuthor } } }
      }
      commits(last: 1) {
        nodes { commit { oid checkSuites(first: 5, filterBy: {checkName: $check}) { nodes {
          checkRuns(first: 5, filterBy: {checkName: $check}) { nodes { resourcePath externalId } }
        } } } }
      }
    }
  }
}
"""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """What a review needs to know before it reads files.

    ``own_comments`` are the bodies of the first comments of threads that this App opened; ``check_run`` is
    the id of our check run on the head commit, if there is one.
    """

    number: int
    is_open: bool
    is_draft: bool
    head: str
    base: str
    own_comments: tuple[str, ...]
    check_run: int | None


class _Comment(Model):
    body: str
    viewer_did_author: bool = Field(alias="viewerDidAuthor")


class _Comments(Model):
    nodes: list[_Comment]


class _Thread(Model):
    comments: _Comments


class _PageInfo(Model):
    has_next: bool = Field(alias="hasNextPage")
    cursor: str | None = Field(alias="endCursor")


class _Threads(Model):
    page: _PageInfo = Field(alias="pageInfo")
    nodes: list[_Thread]


class _CheckRun(Model):
    path: str = Field(alias="resourcePath")
    external_id: str | None = Field(alias="externalId")


class _CheckRuns(Model):
    nodes: list[_CheckRun]


class _CheckSuite(Model):
    runs: _CheckRuns = Field(alias="checkRuns")


class _CheckSuites(Model):
    nodes: list[_CheckSuite]


class _Commit(Model):
    suites: _CheckSuites | None = Field(alias="checkSuites")


class _PullCommit(Model):
    commit: _Commit


class _Commits(Model):
    nodes: list[_PullCommit]


class _Pull(Model):
    state: str
    is_draft: bool = Field(alias="isDraft")
    head: str = Field(alias="headRefOid")
    base: str = Field(alias="baseRefOid")
    threads: _Threads = Field(alias="reviewThreads")
    commits: _Commits


class _Repository(Model):
    pull: _Pull | None = Field(alias="pullRequest")


class _Data(Model):
    repository: _Repository | None


async def read_pull_request(github: Installation, full_name: str, number: int) -> PullRequest:
    """One request per 100 review threads. Raises Refused if there is no such pull request, TryLater."""
    owner, _, name = full_name.partition("/")
    variables = {"owner": owner, "name": name, "number": number, "check": CHECK_NAME, "after": None}
    comments: list[str] = []
    while True:
        data = await github.graphql(_Data, QUERY, variables)
        pull = data.repository.pull if data.repository else None
        if pull is None:
            raise Refused(f"pull request {full_name}#{number} cannot be read")
        first = [comment for thread in pull.threads.nodes for comment in thread.comments.nodes]
        comments += [comment.body for comment in first if comment.viewer_did_author]
        if not pull.threads.page.has_next:
            break
        variables["after"] = pull.threads.page.cursor
    return PullRequest(
        number=number,
        is_open=pull.state == "OPEN",
        is_draft=pull.is_draft,
        head=pull.head,
        base=pull.base,
        own_comments=tuple(comments),
        check_run=_check_run(pull),
    )


def _check_run(pull: _Pull) -> int | None:
    commits = [each.commit for each in pull.commits.nodes]
    suites = [suite for commit in commits if commit.suites for suite in commit.suites.nodes]
    for run in [run for suite in suites for run in suite.runs.nodes]:
        # The marker: only our own runs carry the head commit as external id. `databaseId` is an Int, which
        # these ids have outgrown; the path ends with the id.
        match = re.search(r"/runs/(\d+)$", run.path)
        if run.external_id == pull.head and match:
            return int(match[1])
    return None
