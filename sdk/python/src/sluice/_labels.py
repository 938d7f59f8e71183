"""Record fields that the program sets, mostly by its session."""

from __future__ import annotations

import re
from typing import Any, Dict

from ._json import to_json
from ._plain import plain_value
from ._types import Session
from ._warn import Warn

#: Ingest's limits. Longer labels are truncated, so that their call is not rejected.
_MAX_LABEL_UNITS = 256
_MAX_METADATA_BYTES = 16 * 1024
_MAX_METADATA_DEPTH = 8
_MAX_PLACES = 100
_MAX_CONTEXT_BYTES = 2048
#: A message's position, or a JSON pointer (RFC 6901).
_PLACE = re.compile(r"(?:0|[1-9][0-9]{0,4}|/(?:[^~]|~[01])*)", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_NAMES = ("agent_name", "agent_tag", "session_id", "user_id")


def label_fields(session: Session, warn: Warn, model: str | None = None) -> Dict[str, Any]:
    """Leaves out labels for which ingest would reject the call, with a warning."""
    fields: Dict[str, Any] = {}

    def put(name: str, value: Any, fault: str | None) -> None:
        if fault is None:
            fields[name] = value
        else:
            warn(f"label {name}", f"{name} is not recorded: {fault}")

    for name in (*_NAMES, "model"):
        given: Any = model if name == "model" else getattr(session, name)
        if given is None or given == "":
            continue
        text = beginning_of(given, _MAX_LABEL_UNITS) if isinstance(given, str) else given
        put(name, text, _fault_of(text) if isinstance(text, str) else "it is not a string")
    if session.metadata is not None:
        metadata = plain_value(session.metadata)
        put("metadata", metadata, _fault_of_metadata(metadata))
    if session.context:
        put("context", session.context, _fault_of_context(session.context))
    return fields


def beginning_of(text: str, units: int) -> str:
    """At most that many UTF-16 units, in which ingest counts."""
    if len(text) <= units // 2:
        return text
    encoded = text.encode("utf-16-le", "surrogatepass")[: units * 2]
    return encoded.decode("utf-16-le", "ignore" if len(encoded) == units * 2 else "surrogatepass")


def _fault_of_metadata(metadata: Any) -> str | None:
    if not isinstance(metadata, dict):
        return "it is not a mapping"
    size = len(to_json(metadata).encode("utf-8"))
    if size > _MAX_METADATA_BYTES:
        return f"it has {size} bytes of JSON, more than {_MAX_METADATA_BYTES}"
    return _fault_of(metadata)


def _fault_of_context(context: Any) -> str | None:
    if not isinstance(context, (list, tuple)) or len(context) > _MAX_PLACES:
        return f"it is not a list of at most {_MAX_PLACES}"
    if not all(_PLACE.fullmatch(str(place)) for place in context):
        return "it has more than message indexes and JSON pointers"
    size = len(",".join(map(str, context)).encode("utf-8", "surrogatepass"))
    if size > _MAX_CONTEXT_BYTES:
        return f"it has more than {_MAX_CONTEXT_BYTES} bytes"
    return _fault_of(list(context))


def _fault_of(value: Any, depth: int = 0) -> str | None:
    if depth > _MAX_METADATA_DEPTH:
        return f"it is nested deeper than {_MAX_METADATA_DEPTH} levels"
    if isinstance(value, str):
        if "\0" in value:
            return "it contains a NUL character"
        return "it contains a lone surrogate" if _SURROGATE.search(value) else None
    if isinstance(value, int) and abs(value) >= 2**53:
        return "it contains an integer beyond 2^53: pass it as a string"
    members = list(value.items()) if isinstance(value, dict) else []
    members += [("", entry) for entry in value] if isinstance(value, list) else []
    for name, member in members:
        fault = _fault_of(name, depth) or _fault_of(member, depth + 1)
        if fault is not None:
            return fault
    return None
