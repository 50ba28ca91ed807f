"""Every override of the fixtures is at the very line and column where it is written."""

from __future__ import annotations

import pytest

from checks.shell.evaluate import evaluate_path
from checks.shell.interpreter import Invocation
from checks.shell.source import Source
from checks.shell.state import Shell
from tests.mini import OLD_SCRIPT, SCRIPT, head_files, snapshot


def invocations(path: str) -> list[Invocation]:
    files = head_files()
    outcome = evaluate_path(snapshot(files), Shell(Source(path, files[path])))
    assert outcome.not_checked == ()
    return [each for each in outcome.invocations if (each.argv[0].known or "").startswith("python")]


@pytest.mark.parametrize("path", [SCRIPT, OLD_SCRIPT])
def test_every_word_is_where_the_source_has_it(path: str) -> None:
    (launch,) = invocations(path)
    lines = head_files()[path].splitlines()
    words = [word for word in launch.argv if "=" in (word.known or "=")]
    assert len(words) > 8
    for word in words:
        assert word.span.line == word.span.end_line
        written = lines[word.span.line - 1][word.span.column - 1 : word.span.end_column - 1]
        key = "".join(piece for piece in word.text if isinstance(piece, str)).partition("=")[0]
        assert written.startswith(f"{key}=")
        before = lines[word.span.line - 1][: word.span.column - 1]
        after = lines[word.span.line - 1][word.span.end_column - 1 :]
        assert before.strip() == ""
        assert after.strip() in ("", "\\")


def test_a_value_from_a_variable_keeps_where_it_was_last_set() -> None:
    (launch,) = invocations(SCRIPT)
    (word,) = [each for each in launch.argv if each.known == "trainer.n_gpus_per_node=16"]
    lines = head_files()[SCRIPT].splitlines()
    assert lines[word.origins[0].line - 1] == "NGPUS_PER_NODE=${NGPUS_PER_NODE:-16}"


def test_the_command_itself_spans_all_its_lines() -> None:
    (launch,) = invocations(SCRIPT)
    lines = head_files()[SCRIPT].splitlines()
    assert lines[launch.span.line - 1].startswith("python3 -m")
    assert lines[launch.span.end_line - 1].strip() == '"$@"'
