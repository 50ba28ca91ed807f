"""What a script starts: known where bash knows it, unknown where only CI does, refused elsewhere."""

from __future__ import annotations

import pytest

from checks.shell.evaluate import Outcome, evaluate_path
from checks.shell.source import Source
from checks.shell.state import Shell
from checks.shell.value import Field, Unknown, Variable, text_of
from checks.snapshot import Snapshot
from tests.mini import snapshot


def run(text: str, *, files: dict[str, str] | None = None, arguments: tuple[str, ...] = ()) -> Outcome:
    tree = snapshot({"run.sh": text, **(files or {})})
    shell = Shell(Source("run.sh", text))
    here = shell.source.span(0, 0)
    shell.arguments = tuple(Field(text_of(argument), here) for argument in arguments)
    return evaluate_path(tree, shell)


def words(text: str, **options: object) -> list[str | None]:
    outcome = run(text, **options)  # type: ignore[arg-type]
    assert outcome.not_checked == ()
    return [word.known for word in outcome.invocations[-1].argv]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("A=1\npython x.py a=$A", ["a=1"]),
        ("python x.py a=${A:-2} b=${A-3}", ["a=2", "b=3"]),
        ("A=\npython x.py a=${A:-2} b=${A-3} c=${A:+4} d=${A+5}", ["a=2", "b=", "c=", "d=5"]),
        ("python x.py ${A:=7} $A", ["7", "7"]),
        ("A='x y'\npython x.py $A \"$A\" '$A'", ["x", "y", "x y", "$A"]),
        ("A='x y'\npython x.py p${A}q", ["px", "yq"]),
        ('A=(a=1 \'b=2 3\' c="4")\npython x.py "${A[@]}"', ["a=1", "b=2 3", "c=4"]),
        (
            'A=(a)\nA+=(b "c d")\npython x.py "${A[@]}" ${#A[@]} ${A[1]} ${A[-1]}',
            ["a", "b", "c d", "3", "b", "c", "d"],
        ),
        ('A=()\npython x.py "${A[@]}" end', ["end"]),
        ("A=x\nA+=y\npython x.py $A", ["xy"]),
        ("A=1\nA+=2\npython x.py $((A + 1))", ["13"]),
        ('A=(1 2)\nunset A\npython x.py "${A[@]}" ${A:-none}', ["none"]),
        ("A=3 B=$((A * 2 + 1))\npython x.py $B $((B % 4)) $((1024 * 2))", ["7", "3", "2048"]),
        ("python x.py a=1 \\\n    b=2 \\\n    c=3", ["a=1", "b=2", "c=3"]),
        ("python x.py a\\\nb", ["ab"]),
        ('python x.py \\"a\\" "b\\"c" \'d\'e$\'\\t\'', ['"a"', 'b"c', "de\t"]),
        (
            "A=path/to/file.sh\npython x.py ${A##*/} ${A%.sh} ${A%%/*} ${A#*/} ${#A}",
            ["file.sh", "path/to/file", "path", "to/file.sh", "15"],
        ),
        ("for i in a b; do python x.py $i; done", ["b"]),
        ("set -- p 'q r'\npython x.py \"$@\" $# $2", ["p", "q r", "2", "q", "r"]),
        ("cat <<EOF\nnot a command $(\nEOF\npython x.py a", ["a"]),
        ("python x.py a # comment 'with quote\n", ["a"]),
        ("(A=1; cd /tmp)\nA=2\npython x.py $A", ["2"]),
        ("A=1 | cat\npython x.py ${A:-unset}", ["unset"]),
        ("nohup env B=1 python x.py a", ["a"]),
        ("export A=1; readonly B=2; declare -a C=(3 4)\npython x.py $A $B ${C[1]}", ["1", "2", "4"]),
        ("true || exit 1\npython x.py a", ["a"]),
    ],
)
def test_words_are_what_bash_makes(script: str, expected: list[str]) -> None:
    assert words(script)[2:] == expected


def test_arguments_of_the_caller_reach_the_launch() -> None:
    assert words('python x.py a=1 "$@"', arguments=("b=2", "c=3 4"))[2:] == ["a=1", "b=2", "c=3 4"]


def test_a_script_of_the_tree_is_entered_with_arguments_and_exported_variables_only() -> None:
    inner = 'python x.py $1 ${A:-no} ${B:-no} "${@:-none}"'
    outer = "export A=1\nB=2\nbash lib/inner.sh first"
    with_default = run(outer, files={"lib/inner.sh": inner.replace(' "${@:-none}"', "")})
    assert [word.known for word in with_default.invocations[-1].argv][2:] == ["first", "1", "no"]
    assert with_default.invocations[-1].scripts == ("run.sh", "lib/inner.sh")


def test_a_relative_script_is_found_from_the_working_directory() -> None:
    outcome = run("cd lib\nbash inner.sh", files={"lib/inner.sh": "python x.py a"})
    assert outcome.invocations[-1].cwd == "lib"


def test_what_only_the_runner_knows_is_unknown_with_its_line() -> None:
    outcome = run("A=1\npython x.py home=$HOME/x out=$(date) both=${HOME:-/root}")
    argv = outcome.invocations[-1].argv
    assert [word.known for word in argv][2:] == [None, None, None]
    assert argv[2].text[2] == "/x"
    unknown = argv[2].text[1]
    assert isinstance(unknown, Unknown)
    assert (unknown.line, "HOME" in unknown.reason) == (2, True)


def test_an_unquoted_unknown_may_be_no_word_or_many() -> None:
    argv = run('python x.py $EXTRA "$EXTRA"').invocations[0].argv
    assert [word.may_split for word in argv[2:]] == [True, False]


@pytest.mark.parametrize(
    ("script", "line", "what"),
    [
        ('eval "$CMD"', 1, "text that is not wholly known"),
        ("A=1\nalias x=y\npython x.py", 2, "`alias`"),
        ("python x.py {1..1000000000}", 1, "brace expansion to more than 10000 words"),
        ("readonly A=1\nA=2", 2, "which is read-only"),
        ("declare -i A=2", 1, "the declaration option `-i`"),
        ("python x.py 'open", 1, "unclosed single quote"),
        ("if true; then", 1, ""),
        ("A=1\nif true; then\n  python x.py\nB=2\n", 4, "unexpected EOF"),
        ("A=1\npython x.py \\\n  a\nfi (\nB=1", 4, "unexpected token"),
        ("A=1\nB=2\nC=3 )\nD=4", 3, "unexpected token"),
        ("A=1\ncase x in", 2, "case without esac"),
        ("[[ a == ]]", 1, "a word is missing"),
        ("A=1\npython x.py $((1 +))", 2, "an operand is missing"),
        ("source missing.sh", 1, "what it sets is not known"),
        ("bash missing.sh", 1, "not a file of this commit"),
        ("bash $SCRIPT", 1, "which script is run"),
        ("$DIR/run.sh a", 1, "which script is run"),
        ("bash < run.sh", 1, "`bash` that reads its standard input"),
        ("[[ x == @(x|y) ]]", 1, "this pattern"),
        ("A=1\nA=${A/x/&}", 2, "`&` in a replacement"),
        ("f() { f; }\nf", 1, "nested deeper"),
        ("while :; do A=x$A; done", 1, "steps"),
        ("set -- $X; shift $N", 1, "`shift` by a count"),
        ("A\\\n=1", 1, "continues within a name"),
        ("A=1\nshow $\\\nA", 2, "continues within a name"),
        ('A=1\nshow "$A\\\nB"', 2, "continues within a name"),
        ("whi\\\nle true; do show x; done", 1, "continues within a name"),
        ("(\\\n(1 + 1))", 1, "continues within a name"),
    ],
)
def test_what_is_not_understood_is_reported_at_its_line(script: str, line: int, what: str) -> None:
    outcome = run(script)
    (reported,) = outcome.not_checked
    assert reported.path == "run.sh"
    assert reported.reason.startswith(f"line {line}: ")
    assert what in reported.reason


def test_commands_before_the_construct_still_count() -> None:
    outcome = run("python x.py first\nalias a=b\npython x.py second")
    assert [[word.known for word in each.argv][2] for each in outcome.invocations] == ["first"]


def test_endless_scripts_end() -> None:
    loop = run("for a in 1 2 3 4 5 6 7 8 9 0; do " * 5 + "x=1; " + "done; " * 5)
    assert "steps" in loop.not_checked[0].reason
    recursion = run("bash run.sh")
    assert "nested deeper" in recursion.not_checked[0].reason


def test_environment_of_a_launch_holds_exports_and_prefix_assignments() -> None:
    outcome = run("export A=1\nB=2\nC=3 python x.py")
    environment = outcome.invocations[0].environment
    assert dict(environment) == {"A": ("1",), "C": ("3",)}


def test_variables_given_by_the_caller_win_over_defaults() -> None:
    text = "python x.py ${NPUS:-8}"
    shell = Shell(Source("run.sh", text))
    span = shell.source.span(0, 0)
    shell.variables["NPUS"] = Variable((Field(("16",), span),), exported=True)
    assert [word.known for word in evaluate_path(Snapshot({}, {}), shell).invocations[0].argv][2:] == ["16"]
