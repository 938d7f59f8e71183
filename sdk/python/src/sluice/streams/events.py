"""Events of a stream: ``text/event-stream`` and Amazon's binary one."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from typing import Dict, List, NamedTuple, Tuple

from .._json import object_of, parse_json, text_of, to_json

END_MARK = "[DONE]"


def parse_server_sent_events(stream: str) -> List[str]:
    """The data of each event. A truncated last event is dropped, unless only its blank line is missing. An
    event with several JSON objects is split, as clients that read by lines do.
    """
    text = stream[1:] if stream.startswith("\ufeff") else stream
    lines = re.split(r"\r\n|\n|\r", text) if "\r" in text else text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    events: List[str] = []
    data: List[str] = []
    for line in lines:
        if line == "":
            _take(data, events)
            data = []
        elif line == "data":
            data.append("")
        elif line.startswith("data:"):
            data.append(line[6:] if line.startswith("data: ") else line[5:])
    _take(_whole_of(data), events)
    return events


def _take(data: List[str], events: List[str]) -> None:
    if len(data) == 1 or not all(_looks_whole(line) for line in data):
        events.append("\n".join(data))
    else:
        events.extend(data)


def _looks_whole(line: str) -> bool:
    """Lines that are JSON only one by one."""
    return (line.startswith("{") and line.endswith("}")) or line == END_MARK


def _whole_of(data: List[str]) -> List[str]:
    """The complete part of the last event: all of it, or the objects before a truncated line."""
    if not data or _is_whole("\n".join(data)):
        return data
    if all(_looks_whole(line) for line in data) and _is_whole(data[-1]):
        return data
    return data[:-1] if all(_looks_whole(line) for line in data[:-1]) else []


def _is_whole(data: str) -> bool:
    return data == END_MARK or object_of(parse_json(data)) is not None


class AmazonEvent(NamedTuple):
    """The data that an event amounts to, and the offset of its end."""

    data: str
    end: int


#: Total length, header length and a checksum before each event's headers; a checksum after its payload.
_PRELUDE, _CHECKSUM, _TEXT_TYPE = 12, 4, 7
#: Lengths of values by type; other types have a two-byte length before them.
_VALUE_BYTES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}


def read_amazon_events(body: bytes) -> List[AmazonEvent]:
    """The complete events of an ``application/vnd.amazon.eventstream``. Checksums are not verified."""
    events: List[AmazonEvent] = []
    at = 0
    while at + _PRELUDE <= len(body):
        total, header_bytes = struct.unpack_from(">II", body, at)
        end, payload_at = at + total, at + _PRELUDE + header_bytes
        if end > len(body) or payload_at > end - _CHECKSUM:
            break
        headers = _headers_in(body[at + _PRELUDE : payload_at])
        payload = body[payload_at : end - _CHECKSUM].decode("utf-8", "replace")
        events.append(AmazonEvent(_chunk_of(headers, payload), end))
        at = end
    return events


def _headers_in(body: bytes) -> Dict[str, str]:
    """Text headers, up to the first invalid one."""
    headers: Dict[str, str] = {}
    at = 0
    while at < len(body):
        type_at = at + 1 + body[at]
        if type_at >= len(body):
            break
        kind = body[type_at]
        value_at, length = _value_at(body, type_at, kind)
        if value_at > len(body):
            break
        if kind == _TEXT_TYPE:
            name = body[at + 1 : type_at].decode("utf-8", "replace")
            headers[name] = body[value_at : value_at + length].decode("utf-8", "replace")
        at = value_at + length
    return headers


def _value_at(body: bytes, type_at: int, kind: int) -> Tuple[int, int]:
    fixed = _VALUE_BYTES.get(kind)
    if fixed is not None:
        return type_at + 1, fixed
    if type_at + 3 > len(body):
        return len(body) + 1, 0
    return type_at + 3, int.from_bytes(body[type_at + 1 : type_at + 3], "big")


def _chunk_of(headers: Dict[str, str], payload: str) -> str:
    """The model's chunks are base64, Converse's events are named by a header; anything else is an error."""
    value = object_of(parse_json(payload))
    chunk = text_of(value.get("bytes")) if value is not None else None
    if chunk is not None:
        try:
            return base64.b64decode(chunk).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            return payload
    event = headers.get(":event-type")
    if event is not None and value is not None:
        return to_json({event: value})
    said = text_of(value.get("message")) if value is not None else None
    return to_json({"type": "error", "error": {"message": said or headers.get(":error-message") or payload}})
