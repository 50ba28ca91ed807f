"""What a person sees: text of the repository cannot leave its place, a forged marker is not ours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.github.snapshot import DiffFile
from app.review.place import Anchor, hunks, one_edit, place
from app.review.reconcile import marker, told_before
from app.review.render import Links, comment, not_reviewed, output
from checks.markdown import code, plain
from checks.model import Edit, Evidence, Finding, NotChecked, Place, Report, Severity

HEAD = "a" * 40
LINKS = Links("https://github.com", "octo/training", HEAD)
ANCHOR = Anchor("a.sh", 1, 1)
HOSTILE = (
    "`</details><img src=x>`` @octocat | [x](http://evil) <!-- npu-review:1 0123456789abcdef "
    + HEAD
    + " -->\n# h"
)


def finding(**fields: object) -> Finding:
    values: dict[str, object] = {
        "rule": "role-parity", "severity": Severity.HIGH, "title": "t", "message": "m", "subject": "s",
        "places": (Place("a.sh", 1, 1),), "fingerprint": "0" * 16,
    }  # fmt: skip
    return Finding(**{**values, **fields})  # type: ignore[arg-type]


def rendered(text: str) -> str:
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))


@given(st.text(max_size=60))
def test_a_code_span_holds_any_text(text: str) -> None:
    html = rendered(f"before {code(text)} after")
    assert html.startswith("<p>before <code>")
    assert html.endswith("</code> after</p>\n")
    assert html.count("<") == 4


@given(st.text(max_size=60).filter(str.strip))
def test_a_plain_sentence_holds_any_text(text: str) -> None:
    html = rendered(f"x{plain(text)}")
    assert html.count("<") == 2


def test_hostile_values_stay_in_their_cells() -> None:
    rows = (Evidence(HOSTILE, HOSTILE, HOSTILE, 3),)
    html = rendered(comment(finding(evidence=rows), ANCHOR, LINKS, HEAD))
    assert "<img" not in html
    assert html.count("<tr>") == 2
    assert html.count("<td>") == 3
    assert 'href="http://evil' not in html


def test_a_hostile_suggestion_stays_in_its_fence() -> None:
    text = "````\n```\n@octocat"
    html = rendered(
        comment(finding(fix=(Edit("a.sh", 1, 1, text),)), Anchor("a.sh", 1, 1, text), LINKS, HEAD)
    )
    assert html.count("<pre>") == 1
    assert "@octocat\n</code></pre>" in html


def test_hostile_paths_in_the_check_run() -> None:
    report = Report(None, HEAD, (), (), (NotChecked(HOSTILE, "reason"),), (), 0.0, 1, 4)
    html = rendered(output(report, HEAD, [], LINKS).text)
    assert "<img" not in html
    assert html.count("<li>") == 1
    assert "<img" not in rendered(not_reviewed(HEAD, HOSTILE).summary)


def test_only_a_marker_at_the_very_start_counts() -> None:
    ours = marker(finding(), HEAD)
    assert told_before([ours + "\n\ntext"]) == {"0" * 16}
    assert (
        told_before([f"text {ours}", f"\n{ours}", f"> {ours}", "<!-- npu-review:1 xyz -->", ""])
        == frozenset()
    )


def report(**fields: object) -> Report:
    values: dict[str, object] = {
        "base": None, "head": HEAD, "launches": (), "findings": (), "not_checked": (), "crashed": (),
        "seconds": 0.0, "files": 1, "rules": 4,
    }  # fmt: skip
    return Report(**{**values, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "conclusion"),
    [
        ({}, "success"),
        ({"findings": (finding(),)}, "neutral"),
        ({"not_checked": (NotChecked("a.sh", "x"),)}, "neutral"),
    ],
)
def test_green_only_when_everything_was_checked_and_nothing_found(
    fields: dict[str, object], conclusion: str
) -> None:
    assert output(report(**fields), HEAD, [], LINKS).conclusion == conclusion


PATCH = "@@ -1,3 +1,4 @@\n a\n-b\n+c\n+d\n e\n@@ -20,2 +21,2 @@\n x\n-y\n+z\n\\ No newline at end of file"


@pytest.mark.parametrize(
    ("place_", "anchor"),
    [
        (Place("a.sh", 2, 3), (2, 3)),
        (Place("a.sh", 1, 4), (1, 4)),
        (Place("a.sh", 4, 21), (4, 4)),
        (Place("a.sh", 3, 30), (3, 4)),
        (Place("a.sh", 21, 40), (21, 22)),
        (Place("a.sh", 5, 20), None),
        (Place("b.sh", 2, 3), None),
    ],
)
def test_comments_stand_on_lines_of_one_hunk(place_: Place, anchor: tuple[int, int] | None) -> None:
    diff = hunks([DiffFile(filename="a.sh", status="modified", patch=PATCH)])
    found = place(finding(places=(place_,)), diff)
    assert (found and (found.start_line, found.line)) == anchor


@given(st.integers(1, 40), st.integers(0, 20))
def test_every_anchor_lies_in_one_hunk(line: int, length: int) -> None:
    diff = hunks([DiffFile(filename="a.sh", status="modified", patch=PATCH)])
    found = place(finding(places=(Place("a.sh", line, line + length),)), diff)
    if found is not None:
        assert any(set(range(found.start_line, found.line + 1)) <= hunk.lines for hunk in diff["a.sh"])


def test_a_suggestion_outside_the_diff_is_folded_not_offered() -> None:
    fix = (Edit("a.sh", 10, 10, "new"),)
    diff = hunks([DiffFile(filename="a.sh", status="modified", patch=PATCH)])
    found = place(finding(places=(Place("a.sh", 2, 2),), fix=fix), diff)
    assert found == Anchor("a.sh", 2, 2)
    assert "```suggestion" not in comment(finding(fix=fix), Anchor("a.sh", 2, 2), LINKS, HEAD)


def test_edits_of_adjacent_lines_are_one_suggestion() -> None:
    assert one_edit((Edit("a", 5, 5, ""), Edit("a", 4, 4, "x"))) == Edit("a", 4, 5, "x")
    assert one_edit((Edit("a", 4, 4, "x"), Edit("a", 6, 6, "y"))) is None
    assert one_edit((Edit("a", 4, 4, "x"), Edit("b", 5, 5, "y"))) is None
    assert one_edit(()) is None


@pytest.mark.parametrize(
    "patch", ["", "garbage", "@@ -1 +1 @@", "@@ -1,9 +1,9 @@\n a", "Binary files differ"]
)
def test_a_patch_that_is_not_understood_has_no_lines(patch: str) -> None:
    diff = hunks([DiffFile(filename="a.sh", status="modified", patch=patch)])
    assert place(finding(places=(Place("a.sh", 500, 500),)), diff) is None
