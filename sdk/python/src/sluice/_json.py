"""Reading JSON of which nothing is known: bodies come from outside."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List

JsonObject = Dict[str, Any]

#: Objects, arrays and strings in a body. Ingest accepts 500,000 in a record, so two bodies fit.
MAX_BODY_PARTS = 240_000
#: No real body is nested deeper, and ingest refuses one that is.
MAX_BODY_DEPTH = 200


def parse_json(text: str) -> Any:
    """The parsed text; None if it is no JSON (RFC 8259, so without NaN) or nested deeper than the stack."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> Any:
    raise ValueError(name)


def to_json(value: Any) -> str:
    """JSON text without spaces. Raises ValueError for NaN, TypeError for what is no JSON."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # A lone surrogate: escaped it survives, as the provider sent it.
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text


def object_of(value: Any) -> JsonObject | None:
    """The value if it is an object."""
    return value if isinstance(value, dict) else None


def list_of(value: Any) -> List[Any]:
    """The elements of a list; empty for anything else."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str | None:
    """A non-empty string."""
    return value if isinstance(value, str) and value != "" else None


def count_of(value: Any) -> int | None:
    """A count that a record may hold: up to 2^50."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**50
    return value if is_count else None


def field_at(value: Any, *path: str) -> Any:
    """The value at ``path``, or None."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BRACKET = re.compile(r"[][{}]")


def fits_record(text: str) -> bool:
    """Whether ingest accepts a record with this JSON object as a body; otherwise it is recorded as text."""
    brackets = text.count("{") + text.count("[")
    if brackets <= MAX_BODY_DEPTH and brackets + text.count('"') / 2 <= MAX_BODY_PARTS:
        return True
    bare, strings = _STRING.subn("", text)
    if bare.count("{") + bare.count("[") + strings > MAX_BODY_PARTS:
        return False
    return not is_deeper_than(MAX_BODY_DEPTH, bare)


def is_deeper_than(levels: int, text: str) -> bool:
    """Whether the brackets of a JSON text are nested deeper."""
    if text.count("{") + text.count("[") <= levels:
        return False
    depth = 0
    for found in _BRACKET.finditer(_STRING.sub("", text)):
        depth += 1 if found.group() in "{[" else -1
        if depth > levels:
            return True
    return False


def given_value(text: str) -> Any:
    """Parses a tool's arguments; the text itself if it is incomplete or nested too deep for a record."""
    if is_deeper_than(MAX_BODY_DEPTH - 10, text):
        return text
    value = parse_json(text)
    return text if value is None else value
