"""The parser finds the commands of a script where two others, independent of it, find them."""

from __future__ import annotations

import pytest

from tests.oracle.fixtures import FIXTURES, Fixture
from tests.oracle.structure import by_shfmt, by_tree_sitter, ours

# tree-sitter takes `time` for a command.
TIME = "wrappers and eval-5"


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.name)
def test_commands_begin_where_shfmt_has_them(fixture: Fixture) -> None:
    found = by_shfmt(fixture.script)
    if found is not None:
        assert ours(fixture.script) == found


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.name)
def test_commands_begin_where_tree_sitter_has_them(fixture: Fixture) -> None:
    found = by_tree_sitter(fixture.script)
    if found is not None and fixture.name != TIME:
        assert ours(fixture.script) == found


def test_nearly_all_fixtures_are_understood_by_the_others() -> None:
    refused = [fixture.name for fixture in FIXTURES if by_tree_sitter(fixture.script) is None]
    assert len(refused) <= 8
    assert sum(by_shfmt(fixture.script) is None for fixture in FIXTURES[:60]) == 0
