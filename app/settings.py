"""What the operator decides, from the environment. A wrong setting stops the start with a sentence."""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from typing import Annotated

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

APP_PAGE = "the App's page, https://github.com/settings/apps"


class SettingsError(Exception):
    """One or more settings are missing or wrong; the text has one line for each."""


class Settings(BaseSettings):
    """Environment variables, all with the prefix ``NPU_REVIEW_`` except ``DATABASE_URL``."""

    model_config = SettingsConfigDict(env_prefix="NPU_REVIEW_", frozen=True, extra="ignore")

    app_id: str = ""
    private_key: Annotated[SecretStr, NoDecode] = SecretStr("")
    webhook_secret: SecretStr = SecretStr("")
    database_url: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("DATABASE_URL", "NPU_REVIEW_DATABASE_URL")
    )
    data: Path | None = None
    github_api: str = "https://api.github.com"
    github_web: str = "https://github.com"
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    workers: int = Field(default=2, ge=1, le=64)


def load() -> Settings:
    """The settings of this process, with the private key as PEM text. Raises SettingsError."""
    try:
        settings = Settings()
    except ValidationError as error:
        problems = [_validation(each["loc"], each["msg"]) for each in error.errors(include_input=False)]
        raise SettingsError("\n".join(problems)) from None
    problems = []
    if not re.fullmatch(r"[0-9]{1,18}", settings.app_id.strip()):
        found = "is no number" if settings.app_id.strip() else "not set"
        problems.append(f"NPU_REVIEW_APP_ID: {found}; it is the number called App ID on {APP_PAGE}.")
    for name, address in (("API", settings.github_api), ("WEB", settings.github_web)):
        if not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", address):
            problems.append(
                f"NPU_REVIEW_GITHUB_{name}: no web address; for GitHub Enterprise Server it is "
                f"https://HOST{'/api/v3' if name == 'API' else ''}."
            )
    if not settings.webhook_secret.get_secret_value().strip():
        problems.append(
            "NPU_REVIEW_WEBHOOK_SECRET: not set; choose one (openssl rand -hex 32) and enter the same under "
            f"Webhook on {APP_PAGE}."
        )
    try:
        key = _private_key(settings.private_key.get_secret_value())
    except SettingsError as error:
        problems.append(str(error))
        key = ""
    if problems:
        raise SettingsError("\n".join(problems))
    return settings.model_copy(update={"app_id": settings.app_id.strip(), "private_key": SecretStr(key)})


def _validation(location: tuple[int | str, ...], message: str) -> str:
    name = str(location[0]).upper() if location else "settings"
    prefix = "" if name.startswith("DATABASE_URL") else "NPU_REVIEW_"
    return f"{prefix}{name}: {message}."


def _private_key(value: str) -> str:
    """PEM text from text (``\\n`` may be written out), base64 or a path. Raises SettingsError."""
    if not value.strip():
        raise SettingsError(
            f"NPU_REVIEW_PRIVATE_KEY: not set; generate a private key on {APP_PAGE} and give the file's path "
            "or its text."
        )
    pem = _pem(value.strip())
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except TypeError:
        raise SettingsError(
            "NPU_REVIEW_PRIVATE_KEY: the key is encrypted; give it without a passphrase "
            "(openssl rsa -in key.pem -out plain.pem)."
        ) from None
    except (ValueError, UnicodeEncodeError):
        hint = "it is a public key" if "PUBLIC KEY" in pem else "it cannot be read as PEM"
        raise SettingsError(
            f"NPU_REVIEW_PRIVATE_KEY: {hint}; generate a private key on {APP_PAGE} and give the downloaded "
            ".pem file as it is."
        ) from None
    if not isinstance(key, RSAPrivateKey):
        raise SettingsError("NPU_REVIEW_PRIVATE_KEY: not an RSA key, which GitHub Apps use.")
    return pem


def _pem(value: str) -> str:
    if "-----BEGIN" in value:
        return value.replace("\\n", "\n")
    try:
        path = Path(value)
        if path.is_dir():
            raise SettingsError("NPU_REVIEW_PRIVATE_KEY: it is a folder; give the path of the .pem file.")
        if path.is_file():
            return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        pass
    try:
        decoded = base64.b64decode(value, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        decoded = ""
    if "-----BEGIN" in decoded:
        return decoded
    raise SettingsError(
        "NPU_REVIEW_PRIVATE_KEY: neither PEM text, nor base64 of it, nor the path of a file that can "
        f"be read; generate a private key on {APP_PAGE} and give the downloaded .pem file."
    )
