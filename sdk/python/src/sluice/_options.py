"""Options of a client, with defaults from the environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping
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
    session: Session
    before_send: BeforeSend | None
    max_queue_bytes: int
    max_body_bytes: int


def settle(
    *,
    api_key: str | None,
    base_url: str | None,
    session: Session,
    before_send: BeforeSend | None,
    max_queue_bytes: int | None,
    max_body_bytes: int | None,
    environment: Mapping[str, str],
) -> Settings:
    """Raises ValueError for an invalid address among the options, a mistake that shows at the start. One
    in the environment only turns recording off, as it must not end the program.
    """
    key = api_key or environment.get("SERVICE_API_KEY") or None
    fault = None if key else _NO_KEY
    address = base_url or environment.get("SERVICE_BASE_URL") or "http://localhost:8000"
    if not _is_address(address):
        name = "base_url" if base_url else "SERVICE_BASE_URL"
        fault = f"{name}: expected an http or https address, got {address!r}"
        if base_url:
            raise ValueError(fault)
    return Settings(
        api_key=key if fault is None else None,
        fault=fault,
        base_url=address.rstrip("/"),
        session=session,
        before_send=before_send,
        max_queue_bytes=16 * _MEBIBYTE if max_queue_bytes is None else max_queue_bytes,
        max_body_bytes=min(4 * _MEBIBYTE if max_body_bytes is None else max_body_bytes, 4 * _MEBIBYTE),
    )


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
