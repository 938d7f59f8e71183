"""Merging deltas of a message."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, TypeVar

from .._json import JsonObject, list_of, object_of

T = TypeVar("T")

#: Greatest ``index`` of list entries: far more than any answer has.
MAX_INDEX = 1024
#: Fields that arrive complete; some hosts repeat them in every chunk.
_WHOLE = frozenset(["role", "id", "type", "name", "index", "format"])
_MAX_COUNT_DEPTH = 4


def merge_delta(into: JsonObject, delta: JsonObject) -> None:
    """Strings are concatenated, objects merged, lists merged by ``index``; anything else is replaced."""
    for name, value in delta.items():
        if value is None:
            into.setdefault(name, None)
        else:
            into[name] = _merged(name, into.get(name), value)


def _merged(name: str, old: Any, value: Any) -> Any:
    if isinstance(value, str):
        if name in _WHOLE:
            return old if isinstance(old, str) and old != "" else value
        if isinstance(old, list):
            return _merged_list(old, _parts_of(value))
        return old + value if isinstance(old, str) else value
    if isinstance(value, list):
        return _merged_list(old if isinstance(old, list) else _parts_of(old), value)
    if isinstance(value, dict):
        into = old if isinstance(old, dict) else {}
        merge_delta(into, value)
        return into
    return value


def _parts_of(text: Any) -> List[Any]:
    """Mistral's content is a text in some chunks and a list of parts in others."""
    return [{"type": "text", "text": text}] if isinstance(text, str) and text != "" else []


def _merged_list(known: List[Any], added: List[Any]) -> List[Any]:
    for entry in added:
        index = entry.get("index") if isinstance(entry, dict) else None
        at = len(known) - 1 if not _is_number(index) else _position_of(known, index)
        # Entries beyond the limit share the last one.
        if at == -1 and len(known) >= MAX_INDEX:
            at = len(known) - 1
        before = object_of(known[at]) if 0 <= at < len(known) else None
        if before is None or not isinstance(entry, dict) or not _continues(before, entry):
            known.append(entry)
        else:
            merge_delta(before, entry)
    return known


def _position_of(known: List[Any], index: Any) -> int:
    """Looks through the last entries only: no list with indexes is longer than the limit."""
    for at in range(len(known) - 1, max(-1, len(known) - 1 - MAX_INDEX), -1):
        if isinstance(known[at], dict) and known[at].get("index") == index:
            return at
    return -1


def _continues(known: JsonObject, entry: JsonObject) -> bool:
    """Parts without an index continue the last one if they are text of the same kind."""
    if _is_number(entry.get("index")):
        return True
    kind = entry.get("type")
    return kind in ("text", "thinking") and known.get("type") == kind


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def entry_at(entries: Dict[int, T], index: Any, make: Callable[[], T]) -> T:
    """The entry at ``index``; entries beyond the limit share the last."""
    is_index = isinstance(index, int) and not isinstance(index, bool)
    at = min(max(index, 0), MAX_INDEX) if is_index else 0
    if at not in entries:
        entries[at] = make()
    return entries[at]


def in_order(entries: Dict[int, T]) -> List[T]:
    """Entries in order of their index."""
    return [entries[at] for at in sorted(entries)]


def list_in(fields: JsonObject, name: str) -> List[Any]:
    """The list in ``fields[name]``, made if it is none."""
    if not isinstance(fields.get(name), list):
        fields[name] = []
    return list_of(fields[name])


def append_text(fields: JsonObject, name: str, text: Any) -> None:
    """Adds to the text in ``fields[name]``."""
    if isinstance(text, str):
        before = fields.get(name)
        fields[name] = (before if isinstance(before, str) else "") + text


def later_counts(known: Any, later: Any, depth: int = 0) -> Any:
    """Token counts of a stream only grow, and later ones count. Zero and null are ignored, as some hosts
    end with a usage of zeros.
    """
    if not isinstance(known, dict) or not isinstance(later, dict) or depth >= _MAX_COUNT_DEPTH:
        says_nothing = later is None or (_is_number(later) and later == 0)
        return known if says_nothing and known is not None else later
    for name, value in later.items():
        known[name] = later_counts(known.get(name), value, depth + 1)
    return known
