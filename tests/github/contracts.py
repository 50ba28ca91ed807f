"""GitHub's official descriptions, read once per process (building the GraphQL schema costs about 2 s)."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from graphql import GraphQLSchema, build_schema
from openapi_core import OpenAPI

DATA = Path(__file__).parent.parent / "data" / "github"


@cache
def spec() -> dict[str, Any]:
    """The cut OpenAPI 3.0.3 description."""
    document: dict[str, Any] = json.loads((DATA / "openapi.json").read_text())
    return document


@cache
def openapi() -> OpenAPI:
    """Its `uri` format is checked because rfc3986-validator is installed."""
    return OpenAPI.from_dict(spec())


@cache
def graphql_schema() -> GraphQLSchema:
    source = gzip.decompress((DATA / "schema.graphql.gz").read_bytes()).decode()
    return build_schema(source, assume_valid=True)


@cache
def webhook_examples() -> dict[str, list[dict[str, Any]]]:
    """Real, older payloads that GitHub published, by event name."""
    examples: dict[str, list[dict[str, Any]]] = json.loads(
        gzip.decompress((DATA / "webhook-examples.json.gz").read_bytes())
    )
    return examples
