"""OpenAI's responses: the last event carries the whole answer. Without it the answer is built from items
and deltas.
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple, Tuple

from .._json import JsonObject, list_of, object_of, text_of
from .merge import MAX_INDEX, entry_at, in_order, list_in, merge_delta


class _Location(NamedTuple):
    """Where a kind of delta belongs within an item."""

    item: str
    """Type of the item, if only deltas arrive."""
    name: str
    """Field of the text, both in the item and in the final event."""
    part: Tuple[str, str, str] | None = None
    """For a part: its list, the field of its index, and its type."""
    within: str | None = None
    """Member of the item that holds it."""


_TRANSCRIPT = _Location("message", "transcript", part=("content", "content_index", "output_audio"))
#: By the name between ``response.`` and ``.delta``; some versions use dots instead of underscores.
_LOCATIONS: Dict[str, _Location] = {
    "output_text": _Location("message", "text", part=("content", "content_index", "output_text")),
    "refusal": _Location("message", "refusal", part=("content", "content_index", "refusal")),
    "audio_transcript": _TRANSCRIPT,
    "output_audio_transcript": _TRANSCRIPT,
    "reasoning_text": _Location("reasoning", "text", part=("content", "content_index", "reasoning_text")),
    "reasoning_summary_text": _Location(
        "reasoning", "text", part=("summary", "summary_index", "summary_text")
    ),
    "function_call_arguments": _Location("function_call", "arguments"),
    "mcp_call_arguments": _Location("mcp_call", "arguments"),
    "custom_tool_call_input": _Location("custom_tool_call", "input"),
    "code_interpreter_call_code": _Location("code_interpreter_call", "code"),
    "apply_patch_call_operation_diff": _Location("apply_patch_call", "diff", within="operation"),
    "shell_call_command": _Location("shell_call", "command", within="action"),
}
#: Audio is not read, and would take megabytes.
_MEDIA = ("audio", "output_audio")
_ENDS = ("response.completed", "response.incomplete", "response.failed")


class ResponseAssembly:
    """Items by index, or the last event's answer."""

    def __init__(self) -> None:
        self._snapshot: JsonObject = {}
        self._error: Any = None
        self._ended = False
        self._items: Dict[int, JsonObject] = {}

    def add(self, chunk: JsonObject) -> None:
        kind = text_of(chunk.get("type")) or ""
        response = object_of(chunk.get("response"))
        if response is not None:
            self._snapshot, self._error = response, None
        if kind in _ENDS:
            self._ended = True
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._item_of(chunk).update(object_of(chunk.get("item")) or {})
        elif kind.endswith(".delta") or (kind.endswith(".done") and _kind_of(kind) in _LOCATIONS):
            is_spoken = _LOCATIONS.get(_kind_of(kind)) is _TRANSCRIPT
            _apply(self._spoken_of(chunk) if is_spoken else self._item_of(chunk), kind, chunk)
        elif kind == "error":
            error = object_of(chunk.get("error"))
            self._error = chunk if error is None else error

    def _item_of(self, chunk: JsonObject) -> JsonObject:
        return entry_at(self._items, chunk.get("output_index"), dict)

    def _spoken_of(self, chunk: JsonObject) -> JsonObject:
        """A transcript may name no item."""
        if "output_index" in chunk:
            return self._item_of(chunk)
        said = [item for item in in_order(self._items) if item.get("type") == "message"]
        return said[0] if said else self._item_of({"output_index": len(self._items)})

    def body(self) -> JsonObject:
        said = self._snapshot if self._error is None else {**self._snapshot, "error": self._error}
        if self._ended and list_of(said.get("output")):
            return said
        return {**said, "output": in_order(self._items)}

    def is_doubtful(self) -> bool:
        return False

    def ended(self) -> bool:
        return self._ended


def _kind_of(kind: str) -> str:
    return re.sub(r"\.(?:delta|done)$", "", re.sub(r"^response\.", "", kind)).replace(".", "_")


def _apply(item: JsonObject, kind: str, chunk: JsonObject) -> None:
    """Applies a delta, or the complete text, to an item. Unknown kinds are kept under their own name."""
    name = _kind_of(kind)
    location = _LOCATIONS.get(name)
    delta = chunk.get("delta")
    if location is None:
        if name not in _MEDIA:
            merge_delta(item, {name: delta})
        return
    if item.get("type") is None:
        item["type"] = location.item
    whole = text_of(chunk.get(location.name)) if kind.endswith(".done") else None

    def following(known: Any) -> str:
        if whole is not None:
            return whole
        return (text_of(known) or "") + (delta if isinstance(delta, str) else "")

    if name == "shell_call_command":
        commands = list_in(_member_of(item, "action"), "commands")
        at = _position_in(commands, chunk.get("command_index"))
        commands[at : at + 1] = [following(commands[at] if at < len(commands) else None)]
        return
    holder = (
        _member_of(item, location.within) if location.part is None else _part_of(item, location.part, chunk)
    )
    holder[location.name] = following(holder.get(location.name))


def _member_of(item: JsonObject, name: str | None) -> JsonObject:
    if name is None:
        return item
    item[name] = object_of(item.get(name)) or {}
    member: JsonObject = item[name]
    return member


def _part_of(item: JsonObject, location: Tuple[str, str, str], chunk: JsonObject) -> JsonObject:
    name, index, kind = location
    parts = list_in(item, name)
    at = _position_in(parts, chunk.get(index))
    known = object_of(parts[at]) if at < len(parts) else None
    part = {"type": kind} if known is None else known
    parts[at : at + 1] = [part]
    return part


def _position_in(parts: List[Any], index: Any) -> int:
    """Index of the part, or of a new one after the last; beyond the limit the last."""
    last = len(parts) if len(parts) < MAX_INDEX else len(parts) - 1
    is_index = isinstance(index, int) and not isinstance(index, bool)
    return min(max(index, 0), last) if is_index else 0
