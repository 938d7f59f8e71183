"""Anthropic's messages: content blocks by index, with a delta type for each kind of block."""

from __future__ import annotations

from typing import Any, Dict

from .._json import JsonObject, given_value, object_of, text_of
from .merge import append_text, entry_at, in_order, later_counts, list_in


class _Block:
    def __init__(self) -> None:
        self.fields: JsonObject = {}
        # JSON text of a tool's input, which arrives in chunks.
        self.input = ""

    def body(self) -> JsonObject:
        return {**self.fields, "input": given_value(self.input)} if self.input else self.fields

    def apply(self, delta: JsonObject) -> None:
        kind = delta.get("type")
        if kind == "input_json_delta":
            self.input += text_of(delta.get("partial_json")) or ""
        elif kind == "citations_delta":
            list_in(self.fields, "citations").append(delta.get("citation"))
        elif kind == "compaction_delta":
            # Complete rather than a chunk, as in Anthropic's client.
            self.fields.update({**delta, "type": "compaction"})
        else:
            # Including unknown types, so that no text of a stream is lost.
            for name, value in delta.items():
                if name != "type":
                    append_text(self.fields, name, value)


class MessageAssembly:
    """A message with its content blocks."""

    def __init__(self) -> None:
        self._message: JsonObject = {}
        self._blocks: Dict[int, _Block] = {}
        self._stopped = False

    def add(self, chunk: JsonObject) -> None:
        kind = chunk.get("type")
        if kind == "message_start":
            self._start(object_of(chunk.get("message")) or {})
        elif kind == "content_block_start":
            self._block_of(chunk).fields.update(object_of(chunk.get("content_block")) or {})
        elif kind == "content_block_delta":
            self._block_of(chunk).apply(object_of(chunk.get("delta")) or {})
        elif kind == "message_delta":
            self._message.update(object_of(chunk.get("delta")) or {})
            # Counts are cumulative. Some hosts send null or zero for missing ones.
            self._message["usage"] = later_counts(
                _or_empty(self._message.get("usage")), _or_empty(chunk.get("usage"))
            )
        elif kind == "message_stop":
            self._stopped = True
        elif kind == "error":
            self._message["error"] = chunk.get("error")

    def _start(self, message: JsonObject) -> None:
        self._message.update({name: value for name, value in message.items() if name != "usage"})
        usage = message.get("usage")
        if "usage" in message:
            # The first count is a placeholder: a truncated stream has no count.
            counts = object_of(usage) or {}
            self._message["usage"] = {
                name: value for name, value in counts.items() if name != "output_tokens"
            }

    def _block_of(self, chunk: JsonObject) -> _Block:
        return entry_at(self._blocks, chunk.get("index"), _Block)

    def body(self) -> JsonObject:
        if "type" not in self._message:
            return dict(self._message)
        return {**self._message, "content": [block.body() for block in in_order(self._blocks)]}

    def is_doubtful(self) -> bool:
        return False

    def ended(self) -> bool:
        return self._stopped


def _or_empty(value: Any) -> Any:
    return {} if value is None else value
