"""The Hydra entry function of a file, by its syntax tree only."""

from __future__ import annotations

import pytest

from checks.hydra.module import Decorated, Unreadable, entry_function
from tests.mini import snapshot

MAIN = '@hydra.main(config_path="config", config_name="main", version_base=None)\ndef main(c):\n    pass\n'
ARGUMENTS = {"config_path": "config", "config_name": "main", "version_base": None}
CALL = 'if __name__ == "__main__":\n    main()\n'


def found(text: str, **files: str) -> Decorated | None:
    named = {name.replace("__", "/") + ".py": content for name, content in files.items()}
    return entry_function(snapshot({"pkg/run.py": text, **named}), "pkg/run.py")


@pytest.mark.parametrize(
    "text",
    [
        "import hydra\n" + MAIN + CALL,
        "import hydra\n" + MAIN,
        "import hydra as h\n" + MAIN.replace("hydra", "h") + CALL,
        "from hydra import main as hm\n" + MAIN.replace("hydra.main", "hm") + CALL,
        "import hydra\n" + MAIN.replace("main", "other", 0) + "def start():\n    main()\nstart()\n",
        "import hydra\ndef main(c):\n    pass\n"
        'hydra.main(config_path="config", config_name="main", version_base=None)(main)()\n',
        "import hydra\ndef start():\n    " + MAIN.replace("\n", "\n    ") + "\n    main()\nstart()\n",
        "import hydra\n"
        + MAIN
        + '@hydra.main(config_path="x", config_name="y")\ndef unused(c):\n    pass\n'
        + CALL,
    ],
)
def test_the_entry_of_a_file(text: str) -> None:
    assert found(text) == Decorated("pkg/run.py", ARGUMENTS)


@pytest.mark.parametrize(
    "text",
    [
        "from pkg.main import main\nmain()\n",
        "from .main import main as m\nm()\n",
        "import pkg.main\npkg.main.main()\n",
        "from pkg import main\nmain.main()\n",
        "from pkg.main import main\ndef start():\n    return main()\n" + CALL.replace("main()", "start()"),
        "from pkg.between import go\ngo()\n",
    ],
)
def test_the_entry_of_another_file_that_is_called(text: str) -> None:
    files = {
        "pkg__main": "import hydra\n" + MAIN,
        "pkg____init__": "",
        "pkg__between": "from pkg.main import main\ndef go():\n    main()\n",
    }
    assert found(text, **files) == Decorated("pkg/main.py", ARGUMENTS)


@pytest.mark.parametrize(
    "text",
    ["import argparse\n", "def main():\n    pass\nmain()\n", "from elsewhere import main\nmain()\n",
     "from pkg.main import main\n", "import other\n@other.main(config_path='x')\ndef main(c):\n    pass\n"],
)  # fmt: skip
def test_a_file_without_entry(text: str) -> None:
    assert found(text, pkg__main="import hydra\n" + MAIN) is None


@pytest.mark.parametrize(
    "text",
    ["def (", "import hydra\n" + MAIN + MAIN.replace("def main", "def other"),
     "import hydra\nP = 'x'\n@hydra.main(config_path=P)\ndef main(c):\n    pass\n"],
)  # fmt: skip
def test_what_cannot_be_told_is_said(text: str) -> None:
    with pytest.raises(Unreadable):
        found(text)


def test_modules_that_call_one_another_end() -> None:
    assert (
        found(
            "from pkg.a import f\nf()\n",
            pkg__a="from pkg.run import f\ndef g():\n    f()\ndef f():\n    g()\n",
        )
        is None
    )
