"""Where providers' clients keep what they send with."""

from __future__ import annotations

from typing import Any, List

from ._bedrock import is_bedrock_client, wrap_bedrock_client
from ._gateway import Gateway
from ._observe import Source
from ._transport import record_client
from ._warn import Warn


def wrap_provider(client: Any, source: Source, warn: Warn) -> bool:
    """Replaces the transport of a client. Everything else stays, so that types, errors, retries, streams
    and helpers are the client's own. False for an unknown client.
    """
    if is_bedrock_client(client):
        return wrap_bedrock_client(client, source)
    is_mistral = _field(client, "sdk_configuration") is not None
    found = [record_client(inner, source, is_mistral) for inner in _http_clients(client, warn)]
    return any(found)


def call_through(client: Any, gateway: Gateway, source: Source) -> bool:
    """Sets the client's address to the gateway. False for an unknown client, which keeps its own."""
    before = client.base_url
    client.base_url = gateway.address_of(str(before))
    if record_client(client._client, source, gateway=gateway):
        return True
    client.base_url = before
    return False


def _http_clients(client: Any, warn: Warn) -> List[Any]:
    """The httpx clients of a client, by maker."""
    # An httpx client itself.
    if _field(client, "_transport") is not None and _field(client, "_mounts") is not None:
        return [client]
    # Google GenAI, and its asynchronous side.
    google = _field(client, "_api_client")
    if google is not None:
        _warn_of_aiohttp(google, warn)
        sides = [_field(google, "_httpx_client"), _field(google, "_async_httpx_client")]
        return [side for side in sides if side is not None]
    # Mistral, for all parts of its client.
    mistral = _field(client, "sdk_configuration")
    if mistral is not None:
        sides = [_field(mistral, "client"), _field(mistral, "async_client")]
        return [side for side in sides if side is not None]
    # Cohere.
    cohere = _field(_field(_field(client, "_client_wrapper"), "httpx_client"), "httpx_client")
    if cohere is not None:
        return [cohere]
    # OpenAI, Anthropic and others generated alike.
    generated = _field(client, "_client")
    return [] if generated is None else [generated]


def _warn_of_aiohttp(google: Any, warn: Warn) -> None:
    uses = _field(google, "_use_aiohttp")
    if callable(uses) and uses():
        warn(
            "aiohttp",
            "google-genai sends asynchronous calls by aiohttp, where they are not recorded: pass "
            "HttpOptions(httpx_async_client=httpx.AsyncClient()) to its client",
        )


def _field(value: Any, name: str) -> Any:
    return None if value is None else getattr(value, name, None)
