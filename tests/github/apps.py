"""The App itself: its JWT, installation tokens, hook deliveries, manifest conversion."""

import secrets
from datetime import timedelta
from functools import cache

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.github import shapes
from tests.github.call import Answer, Call, Operation, Refused, invalid, not_found, page_of
from tests.github.state import JSON, HookDelivery, State, Token


@cache
def rsa_key() -> rsa.RSAPrivateKey:
    """One key per process: making it is slow."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def private_pem() -> str:
    return (
        rsa_key()
        .private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        .decode()
    )


def check_app_token(state: State, token: str) -> None:
    """Raises `Refused` (401) unless `token` is a JWT of this App, signed by its key, short-lived.

    https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
    """
    try:
        claims = jwt.decode(
            token,
            rsa_key().public_key(),
            algorithms=["RS256"],
            options={"require": ["iat", "exp", "iss"]},
        )
    except jwt.InvalidTokenError as error:
        raise Refused(401, "A JSON web token could not be decoded") from error
    if claims["iss"] not in (str(state.app_id), shapes.app(state)["client_id"]):
        raise Refused(401, "Integration not found")
    if claims["exp"] - state.clock().timestamp() > 600:
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the future")


def installation_token(state: State, token: str) -> Token:
    """Raises `Refused` (401) for an unknown or an expired token."""
    known = state.tokens.get(token)
    if known is None or known.expires_at <= state.clock():
        raise Refused(401, "Bad credentials")
    return known


def create_token(call: Call) -> Answer:
    state = call.state
    if int(call.path["installation_id"]) != state.installation_id:
        not_found()
    permissions = call.body.get("permissions") or state.permissions
    whole = Token(state.permissions, state.clock())
    if not all(whole.grants(name, access) for name, access in permissions.items()):
        raise Refused(422, "The permissions requested are not granted to this installation.")
    chosen = _chosen_repositories(call)
    token = f"ghs_{secrets.token_hex(18)}"
    state.tokens[token] = Token(dict(permissions), state.clock() + timedelta(hours=1), chosen)
    body: JSON = {
        "token": token,
        "expires_at": state.timestamp(timedelta(hours=1)),
        "permissions": dict(permissions),
        "repository_selection": "selected",
    }
    if chosen is not None:
        body["repositories"] = [shapes.repository(state.repositories[name]) for name in sorted(chosen)]
    return Answer(body, 201)


def _chosen_repositories(call: Call) -> frozenset[str] | None:
    held = call.state.repositories.values()
    ids, names = call.body.get("repository_ids"), call.body.get("repositories")
    if ids is None and names is None:
        return None
    chosen = {one.full_name for one in held if one.id in (ids or ())}
    chosen |= {one.full_name for one in held if one.full_name.split("/")[1] in (names or ())}
    if len(chosen) != len(ids or ()) + len(names or ()):
        invalid("There is at least one repository that does not exist or is not accessible.")
    return frozenset(chosen)


def get_app(call: Call) -> Answer:
    return Answer(shapes.app(call.state))


def list_installations(call: Call) -> Answer:
    state = call.state
    owners = sorted({name.split("/")[0] for name in state.repositories}) or ["nobody"]
    installation = shapes.shape(
        "installation",
        f"{shapes.API}/app/installations/{state.installation_id}",
        id=state.installation_id,
        account=shapes.user(owners[0]),
        app_id=state.app_id,
        app_slug=state.slug,
        permissions=state.permissions,
        repository_selection="selected",
        access_tokens_url=f"{shapes.API}/app/installations/{state.installation_id}/access_tokens",
        repositories_url=f"{shapes.API}/installation/repositories",
        html_url=f"{shapes.WEB}/settings/installations/{state.installation_id}",
    )
    return Answer([installation])


def list_repositories(call: Call) -> Answer:
    reached = [one for name, one in call.state.repositories.items() if call.reach(name)]
    page, headers = page_of(call, reached)
    body = {"total_count": len(reached), "repositories": [shapes.repository(one) for one in page]}
    return Answer(body, headers=headers)


def list_deliveries(call: Call) -> Answer:
    """Newest first; `cursor` is the id below which to go on."""
    newest = sorted(call.state.deliveries, key=lambda delivery: -delivery.id)
    cursor = int(call.query.get("cursor", "0").removeprefix("v1_"))
    rest = [delivery for delivery in newest if not cursor or delivery.id < cursor]
    size = min(int(call.query.get("per_page", 30)), 100)
    page = rest[:size]
    more = len(rest) > size
    link = f'<{call.url}?per_page={size}&cursor=v1_{page[-1].id}>; rel="next"' if more else ""
    return Answer([_delivery(call, one) for one in page], headers={"link": link} if more else {})


def get_delivery(call: Call) -> Answer:
    delivery = _known_delivery(call)
    body = _delivery(call, delivery) | {
        "url": "https://example.org/webhook",
        "request": {"headers": delivery.headers, "payload": delivery.payload},
        "response": {"headers": {}, "payload": ""},
    }
    return Answer(body)


def redeliver(call: Call) -> Answer:
    """Remembered as a delivery with the same GUID; sending it again is the test's affair."""
    state, known = call.state, _known_delivery(call)
    state.deliveries.append(
        HookDelivery(
            state.new_id(), known.guid, known.event, known.action, known.headers, known.payload,
            state.timestamp(), redelivery=True,
        )
    )  # fmt: skip
    return Answer({}, 202)


def _known_delivery(call: Call) -> HookDelivery:
    wanted = int(call.path["delivery_id"])
    return next((one for one in call.state.deliveries if one.id == wanted), None) or not_found()


def _delivery(call: Call, delivery: HookDelivery) -> JSON:
    repository = delivery.payload.get("repository")
    return {
        "id": delivery.id,
        "guid": delivery.guid,
        "delivered_at": delivery.delivered_at,
        "redelivery": delivery.redelivery,
        "duration": 0.1,
        "status": delivery.status,
        "status_code": delivery.status_code,
        "event": delivery.event,
        "action": delivery.action,
        "installation_id": call.state.installation_id,
        "repository_id": repository["id"] if repository else None,
    }


def convert_manifest(call: Call) -> Answer:
    """A code works once, as on GitHub."""
    code = call.path["code"]
    if code not in call.state.manifest_codes:
        not_found()
    call.state.manifest_codes.remove(code)
    secret = {"client_secret": secrets.token_hex(20), "webhook_secret": secrets.token_hex(20)}
    return Answer(shapes.app(call.state) | secret | {"pem": private_pem()}, 201)


def get_meta(call: Call) -> Answer:
    return Answer({"verifiable_password_authentication": False, "hooks": ["192.30.252.0/22"]})


OPERATIONS = [
    Operation("GET", "/app", get_app, speaker="app"),
    Operation("GET", "/app/installations", list_installations, speaker="app"),
    Operation("POST", "/app/installations/{installation_id}/access_tokens", create_token, speaker="app"),
    Operation("GET", "/app/hook/deliveries", list_deliveries, speaker="app"),
    Operation("GET", "/app/hook/deliveries/{delivery_id}", get_delivery, speaker="app"),
    Operation("POST", "/app/hook/deliveries/{delivery_id}/attempts", redeliver, speaker="app"),
    Operation("POST", "/app-manifests/{code}/conversions", convert_manifest, speaker="anybody"),
    Operation("GET", "/installation/repositories", list_repositories),
    Operation("GET", "/meta", get_meta, speaker="anybody"),
]
