"""Judges recorded traffic by GitHub's own descriptions.

A request is judged by the OpenAPI cut or, for GraphQL, by the official schema; so is the answer, unless it
was injected. Requests that the stand-in itself refused with 422 are not judged again.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from graphql import GraphQLError, parse, validate
from jsonschema.exceptions import ValidationError  # type: ignore[import-untyped]
from openapi_core.datatypes import RequestParameters
from openapi_core.validation.schemas.exceptions import InvalidSchemaValue
from openapi_schema_validator import OAS30Validator, oas30_format_checker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4
from werkzeug.datastructures import Headers, ImmutableMultiDict

from tests.github.contracts import graphql_schema, openapi, spec
from tests.github.graphql import NOT_HELD
from tests.github.standin import Exchange
from tests.github.webhooks import Webhook

# The description lists these for few operations, GitHub answers them everywhere.
UNLISTED_STATUSES = {401, 403, 404, 422, 429, 500, 502, 503, 504}


class InvalidTrafficError(AssertionError):
    """Some recorded exchange is not what GitHub describes."""


def check(exchanges: Iterable[Exchange]) -> None:
    """Raises `InvalidTrafficError` naming every complaint."""
    found = [
        f"{exchange.method} {exchange.path} -> {exchange.status}: {complaint}"
        for exchange in exchanges
        for complaint in complaints(exchange)
    ]
    if found:
        raise InvalidTrafficError("\n".join(found))


def complaints(exchange: Exchange) -> list[str]:
    if not exchange.template:
        return ["GitHub's description, as cut for the tests, has no such operation"]
    if exchange.template == "/graphql":
        return list(_graphql_complaints(exchange))
    return list(_rest_complaints(exchange))


def webhook_complaints(webhook: Webhook) -> list[str]:
    """Judges what the stand-in itself sends."""
    event, action = webhook.headers["X-GitHub-Event"], webhook.payload["action"]
    name = f"{event}-{action}".replace("_", "-")
    content = spec()["x-webhooks"][name]["post"]["requestBody"]["content"]["application/json"]
    return [_place(error) for error in _validator(content["schema"]["$ref"]).iter_errors(webhook.payload)]


def _graphql_complaints(exchange: Exchange) -> Iterator[str]:
    try:
        document = parse((exchange.request or {}).get("query") or "")
    except GraphQLError as error:
        yield error.message
        return
    for problem in validate(graphql_schema(), document):
        yield problem.message
    if isinstance(exchange.response, dict):
        for answered in exchange.response.get("errors", []):
            if answered.get("type") == NOT_HELD:
                yield answered["message"]


def _rest_complaints(exchange: Exchange) -> Iterator[str]:
    request, response = _Request(exchange), _Response(exchange)
    if exchange.status != 422:
        for fault in openapi().iter_request_errors(request):
            yield f"request: {_words(fault)}"
    listed = spec()["paths"][exchange.template][exchange.method.lower()]["responses"]
    unlisted = str(exchange.status) not in listed and exchange.status in UNLISTED_STATUSES
    if exchange.injected or unlisted or exchange.response is None:
        return
    for fault in openapi().iter_response_errors(request, response):
        yield f"response: {_words(fault)}"


def _words(error: Exception) -> str:
    """The innermost reason: openapi-core wraps what the schema validator found."""
    cause = error.__cause__
    if not isinstance(cause, InvalidSchemaValue):
        return f"{error} ({cause})" if cause else str(error)
    return "; ".join(_place(one) for one in cause.schema_errors if isinstance(one, ValidationError))


def _place(error: ValidationError) -> str:
    return f"{'/'.join(map(str, error.path))}: {error.message}"


def _validator(reference: str) -> OAS30Validator:
    """openapi-core knows webhooks from OpenAPI 3.1 on only, GitHub describes them beside 3.0."""
    document = Resource.from_contents(spec(), default_specification=DRAFT4)
    registry = Registry().with_resource("urn:github", document)
    return OAS30Validator(
        {"$ref": f"urn:github{reference}"}, registry=registry, format_checker=oas30_format_checker
    )


@dataclass
class _Request:
    """An exchange as openapi-core wants to see it."""

    exchange: Exchange
    parameters: RequestParameters = field(init=False)
    host_url: str = field(init=False)
    content_type: str = "application/json"

    def __post_init__(self) -> None:
        self.host_url = spec()["servers"][0]["url"]
        self.parameters = RequestParameters(
            query=ImmutableMultiDict(self.exchange.query), header=Headers(), cookie=ImmutableMultiDict()
        )

    @property
    def method(self) -> str:
        return self.exchange.method.lower()

    @property
    def path(self) -> str:
        """With every parameter quoted: a file's path is one parameter, slashes and all."""
        quoted = {name: quote(str(value), safe="") for name, value in self.exchange.parameters.items()}
        return self.exchange.template.format(**quoted)

    @property
    def body(self) -> bytes | None:
        return None if self.exchange.request is None else json.dumps(self.exchange.request).encode()


@dataclass
class _Response:
    exchange: Exchange

    @property
    def status_code(self) -> int:
        return self.exchange.status

    @property
    def content_type(self) -> str:
        return "application/json"

    @property
    def headers(self) -> dict[str, Any]:
        return self.exchange.headers

    @property
    def data(self) -> bytes:
        return json.dumps(self.exchange.response).encode()
