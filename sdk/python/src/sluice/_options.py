"""Options of a client, with defaults from the environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Tuple
from urllib.parse import urlsplit

from ._types import BeforeSend, Session

_MEBIBYTE = 2**20
_NO_KEY = "pass api_key to configure() or set SERVICE_API_KEY"


@dataclass(frozen=True)
class Settings:
    """Options with defaults applied."""

    api_key: str | None
    """None: recording is off, for the reason in ``fault``."""
    fault: str | None
    base_url: str
    proxy_url: str | None
    proxy_api_key: str | None
    session: Session
    before_send: BeforeSend | None
    max_queue_bytes: int
    max_body_bytes: int
    spool_dir: str | None
    max_spool_bytes: int


def settle(
    *,
    api_key: str | None,
    base_url: str | None,
    proxy_url: str | None,
    proxy_api_key: str | None,
    session: Session,
    before_send: BeforeSend | None,
    max_queue_bytes: int | None,
    max_body_bytes: int | None,
    spool_dir: str | None,
    max_spool_bytes: int | None,
    environment: Mapping[str, str],
) -> Settings:
    """Raises ValueError for an invalid address among the options, a mistake that shows at the start. One
    in the environment only turns recording off, as it must not end the program.
    """
    key = api_key or environment.get("SERVICE_API_KEY") or None
    address, fault = _address("base_url", base_url, environment, "SERVICE_BASE_URL")
    proxy, proxy_fault = _address("proxy_url", proxy_url, environment, "SERVICE_PROXY_URL")
    fault = fault or proxy_fault or (None if key else _NO_KEY)
    return Settings(
        api_key=key if fault is None else None,
        fault=fault,
        base_url=address or "http://localhost:8000",
        proxy_url=proxy,
        proxy_api_key=proxy_api_key or environment.get("PROXY_API_KEY") or key,
        session=session,
        before_send=before_send,
        max_queue_bytes=16 * _MEBIBYTE if max_queue_bytes is None else max_queue_bytes,
        max_body_bytes=min(4 * _MEBIBYTE if max_body_bytes is None else max_body_bytes, 4 * _MEBIBYTE),
        spool_dir=spool_dir or environment.get("SERVICE_SPOOL_DIR") or None,
        max_spool_bytes=64 * _MEBIBYTE if max_spool_bytes is None else max_spool_bytes,
    )


def _address(
    name: str, given: str | None, environment: Mapping[str, str], variable: str
) -> Tuple[str | None, str | None]:
    """An address, or what is wrong with that of the environment."""
    address = given or environment.get(variable) or None
    if address is None or _is_address(address):
        return None if address is None else address.rstrip("/"), None
    fault = f"{name if given else variable}: expected an http or https address, got {address!r}"
    if given:
        raise ValueError(fault)
    return None, fault


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
