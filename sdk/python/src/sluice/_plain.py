"""JSON-compatible snapshots of a program's values, which it may change later."""

from __future__ import annotations

import dataclasses
import datetime
import inspect
import math
import uuid
from enum import Enum
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple

from ._json import parse_json, to_json
from ._words import NOT_RECORDED, message_of, names_credential

#: Limits for recorded values of traced functions: a log of calls, not a memory dump.
_MAX_DEPTH = 16
_MAX_ENTRIES = 1_000
_MAX_VALUES = 20_000
_MAX_TEXT = 64 * 1024
#: For all texts of one snapshot: 20,000 of the greatest length would take 1.3 GB.
_MAX_TOTAL = 2**20


class Snapshot(NamedTuple):
    """``is_cut``: text may be missing, so the value cannot be judged harmless."""

    value: Any
    is_cut: bool

    def mark(self) -> Dict[str, Any]:
        """The mark of a truncated body, for the scorers."""
        return {"truncated": True} if self.is_cut else {}


def plain_value(value: Any) -> Any:
    """The snapshot alone."""
    return take_snapshot(value).value


def json_value(value: Any) -> Any:
    """A copy as JSON, whatever its size; by its fields if it is none."""
    try:
        return parse_json(to_json(value))
    except (TypeError, ValueError, RecursionError):
        return plain_value(value)


def take_snapshot(value: Any) -> Snapshot:
    """Never raises. What is too deep or too large is truncated and marked, as is what cannot be seen:
    streams, coroutines, bytes.
    """
    walk = _Walk()
    return Snapshot(walk.plain(value, 0, (), False), walk.is_cut)


class _Walk:
    def __init__(self) -> None:
        self.values = _MAX_VALUES
        self.text = _MAX_TOTAL
        self.is_cut = False

    def plain(self, value: Any, depth: int, above: tuple[int, ...], in_object: bool) -> Any:
        """``in_object``: within an instance of a class, such as a client, whose credentials are not
        recorded.
        """
        try:
            return self._plain(value, depth, above, in_object)
        except Exception as error:  # noqa: BLE001 -- properties of the program's may raise anything
            return self._note(f"[unreadable: {message_of(error)}]")

    def _plain(self, value: Any, depth: int, above: tuple[int, ...], in_object: bool) -> Any:
        self.values -= 1
        if self.values < 0:
            return self._note("[too much]")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, Enum):
            return self._plain(value.value, depth, above, in_object)
        if isinstance(value, str):
            return self._text(str(value))
        if isinstance(value, int):
            # Ingest's numbers are doubles: a longer one would lose its digits.
            return int(value) if abs(value) < 2**53 else self._text(str(value))
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else str(value)
        if id(value) in above:
            return "[circular]"
        if depth >= _MAX_DEPTH:
            return self._note("[too deep]")
        return self._object(value, depth + 1, (*above, id(value)), in_object)

    def _object(self, value: Any, depth: int, above: tuple[int, ...], in_object: bool) -> Any:
        if isinstance(value, Mapping):
            return self._fields(value, depth, above, in_object)
        if isinstance(value, (list, tuple, set, frozenset)):
            return self._entries(value, len(value), depth, above, in_object)
        if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
            return value.isoformat()
        if isinstance(value, (uuid.UUID, complex)):
            return str(value)
        if isinstance(value, (bytes, bytearray, memoryview)):
            note = f"[{type(value).__name__} of {len(value)} bytes]"
            return self._note(note) if len(value) > 0 else note
        if isinstance(value, BaseException):
            return {"name": type(value).__name__, "message": self._text(message_of(value))}
        if inspect.isroutine(value) or inspect.isclass(value):
            return f"[function {getattr(value, '__qualname__', 'anonymous')}]"
        fields = _fields_of(value)
        if fields is None or _is_read_later(value):
            return self._note(f"[{type(value).__name__}]")
        return self._fields(fields, depth, above, True)

    def _text(self, text: str) -> str:
        kept = min(len(text), _MAX_TEXT, self.text)
        self.text -= kept
        if kept == len(text):
            return text
        return self._note(f"{text[:kept]}… ({len(text) - kept} more characters)")

    def _note(self, note: str) -> str:
        self.is_cut = True
        return note

    def _entries(
        self, entries: Iterable[Any], length: int, depth: int, above: tuple[int, ...], in_object: bool
    ) -> List[Any]:
        kept: List[Any] = []
        for entry in entries:
            if len(kept) == _MAX_ENTRIES or self.values <= 0:
                break
            kept.append(self.plain(entry, depth, above, in_object))
        if len(kept) < length:
            kept.append(self._note(f"[{length - len(kept)} more]"))
        return kept

    def _fields(
        self, fields: Mapping[Any, Any], depth: int, above: tuple[int, ...], in_object: bool
    ) -> Dict[str, Any]:
        kept: Dict[str, Any] = {}
        for count, (key, entry) in enumerate(fields.items()):
            if count == _MAX_ENTRIES or self.values <= 0:
                kept["…"] = self._note(f"[{len(fields) - count} more]")
                break
            name = self._text(key if isinstance(key, str) else str(key))
            in_headers = in_object or name.lower().endswith("headers")
            is_secret = in_object and names_credential(name)
            kept[name] = NOT_RECORDED if is_secret else self.plain(entry, depth, above, in_headers)
        return kept


def _fields_of(value: Any) -> Mapping[str, Any] | None:
    """The public fields of an instance: of a Pydantic model, a data class, or any other."""
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    model_fields = getattr(type(value), "model_fields", None)
    if isinstance(model_fields, dict):
        extra = getattr(value, "__pydantic_extra__", None)
        known = {name: getattr(value, name) for name in model_fields}
        return {**known, **extra} if isinstance(extra, dict) else known
    own = getattr(value, "__dict__", None)
    public = {name: entry for name, entry in own.items() if not name.startswith("_")} if own else {}
    # Without fields it may still have content: slots, private fields, native code.
    return public or None


_LATER = ("__anext__", "__next__", "__await__", "read")


def _is_read_later(value: Any) -> bool:
    """Whether its content appears only when it is read or awaited."""
    return any(hasattr(type(value), name) for name in _LATER)
