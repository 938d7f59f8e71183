"""A record as it is sent."""

from __future__ import annotations

import time
from typing import Any, Dict

from ._ids import new_request_id
from ._json import parse_json, to_json
from ._types import BeforeSend
from ._words import message_of


def record_json(fields: Dict[str, Any], request: str, response: str | None) -> str:
    """The record as JSON text. Bodies are copied unchanged, so that numbers keep their digits."""
    head = to_json(fields)[:-1]
    answer = "" if response is None else f',"response_body":{response}'
    return f'{head},"request_body":{request}{answer}}}'


def changed_record(text: str, change: BeforeSend) -> str | None:
    """The record as returned by ``change``, under its own identifier; None if it is dropped."""
    record = parse_json(text)
    own_id = record["id"]
    changed = change(record)
    if changed is None:
        return None
    if not isinstance(changed, dict) or not isinstance(changed.get("request_body"), dict):
        raise TypeError("it returned no record")
    return to_json({**changed, "id": own_id})


def call_fields(
    provider: str | None,
    latency_ms: float | None,
    time_to_first_token_ms: float | None,
    status_code: int | None,
    error: BaseException | str | None,
) -> Dict[str, Any]:
    """Fields of a finished call that the program records itself."""
    given = {
        "provider": provider,
        "latency_ms": latency_ms,
        "time_to_first_token_ms": time_to_first_token_ms,
        "status_code": status_code,
        "error": None if error is None else message_of(error),
    }
    known = {name: value for name, value in given.items() if value is not None}
    return {"id": new_request_id(int(time.time() * 1000 - (latency_ms or 0))), "source": "sdk", **known}
