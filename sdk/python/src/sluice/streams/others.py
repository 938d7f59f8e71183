"""Google's candidates, Cohere's chat, Mistral's conversations, Bedrock's Converse and Ollama."""

from __future__ import annotations

import re
from typing import Any, Dict, List

from .._json import JsonObject, given_value, list_of, object_of, text_of
from .merge import append_text, entry_at, in_order, later_counts, list_in, merge_delta

_ENTRY_EVENT = re.compile(r"(message\.output|function\.call|tool\.execution|agent\.handoff)\.")


class CandidateAssembly:
    """Google's generateContent: every chunk is an answer. Parts are appended; of other fields the last
    value counts.
    """

    def __init__(self) -> None:
        self._top: JsonObject = {}
        self._candidates: Dict[int, JsonObject] = {}

    def add(self, chunk: JsonObject) -> None:
        for name, value in chunk.items():
            if name == "candidates":
                for given in list_of(value):
                    self._add_candidate(object_of(given) or {})
            else:
                self._top[name] = (
                    later_counts(self._top.get(name), value) if name == "usageMetadata" else value
                )

    def _add_candidate(self, given: JsonObject) -> None:
        new: JsonObject = {"content": {"role": "model", "parts": []}}
        candidate = entry_at(self._candidates, given.get("index"), lambda: new)
        candidate.update({name: value for name, value in given.items() if name != "content"})
        content = object_of(given.get("content")) or {}
        said = candidate["content"]
        said["role"] = content["role"] if content.get("role") is not None else said["role"]
        for part in list_of(content.get("parts")):
            _add_part(said["parts"], object_of(part) or {})

    def body(self) -> JsonObject:
        return {**self._top, "candidates": in_order(self._candidates)}

    def is_doubtful(self) -> bool:
        """Vertex sends arguments in pieces with paths, which are kept as they came."""
        parts = [part for one in self._candidates.values() for part in one["content"]["parts"]]
        calls = [object_of(part.get("functionCall")) or {} for part in parts]
        return any(call.get("willContinue") is True or "partialArgs" in call for call in calls)

    def ended(self) -> bool:
        reasons = [candidate.get("finishReason") for candidate in self._candidates.values()]
        return len(reasons) > 0 and all(isinstance(reason, str) for reason in reasons)


def _add_part(parts: List[JsonObject], part: JsonObject) -> None:
    """Text continues a part of the same kind (thoughts are marked). Anything else starts a new part."""
    last = parts[-1] if parts else {}
    before, text = last.get("text"), part.get("text")
    if isinstance(before, str) and isinstance(text, str) and last.get("thought") == part.get("thought"):
        last.update({**part, "text": before + text})
    else:
        parts.append(part)


class CohereAssembly:
    """Cohere v2 chat: content, tool plan, tool calls and citations by index; ``message-end`` has the
    usage.
    """

    def __init__(self) -> None:
        self._top: JsonObject = {}
        self._message: JsonObject = {"role": "assistant"}
        self._lists: Dict[str, Dict[int, JsonObject]] = {"content": {}, "tool_calls": {}, "citations": {}}
        self._ended = False

    def add(self, chunk: JsonObject) -> None:
        kind = chunk.get("type")
        delta = object_of(chunk.get("delta")) or {}
        said = object_of(delta.get("message")) or {}
        if kind == "message-start":
            if "id" in chunk:
                self._top["id"] = chunk["id"]
            if said.get("role") is not None:
                self._message["role"] = said["role"]
        elif kind == "message-end":
            self._ended = True
            self._top.update(delta)
        elif kind == "tool-plan-delta":
            merge_delta(self._message, {"tool_plan": said.get("tool_plan")})
        else:
            for name, entries in self._lists.items():
                part = object_of(said.get(name))
                if part is not None:
                    merge_delta(entry_at(entries, chunk.get("index"), dict), part)

    def body(self) -> JsonObject:
        lists = {
            name: in_order(entries) for name, entries in self._lists.items() if entries or name == "content"
        }
        return {**self._top, "message": {**self._message, **lists}}

    def is_doubtful(self) -> bool:
        return False

    def ended(self) -> bool:
        return self._ended


def is_conversation_event(kind: str) -> bool:
    """An event of Mistral's conversations."""
    return kind.startswith("conversation.response.") or _ENTRY_EVENT.match(kind) is not None


class ConversationAssembly:
    """Mistral's conversations: entries by index, with text and arguments in chunks; the last event has the
    usage.
    """

    def __init__(self) -> None:
        self._top: JsonObject = {"object": "conversation.response"}
        self._entries: Dict[int, JsonObject] = {}
        self._ended = False

    def add(self, chunk: JsonObject) -> None:
        kind = text_of(chunk.get("type")) or ""
        fields = {name: value for name, value in chunk.items() if name not in ("type", "output_index")}
        found = _ENTRY_EVENT.match(kind)
        if found is not None:
            entry = entry_at(self._entries, chunk.get("output_index"), dict)
            grown = ("content", "arguments")
            given: JsonObject = {name: fields.pop(name) for name in grown if name in fields}
            entry.update({**fields, "type": found.group(1)})
            entry.pop("content_index", None)
            if isinstance(given.get("content"), dict):
                given["content"] = [given["content"]]
            merge_delta(entry, given)
        elif kind == "conversation.response.error":
            self._top["error"] = fields
        else:
            self._top.update(fields)
            self._ended = self._ended or kind == "conversation.response.done"

    def body(self) -> JsonObject:
        return {**self._top, "outputs": in_order(self._entries)}

    def is_doubtful(self) -> bool:
        return False

    def ended(self) -> bool:
        return self._ended


_CONVERSE = ("messageStart", "contentBlockStart", "contentBlockDelta", "messageStop")


def is_converse_event(chunk: JsonObject) -> bool:
    """An event of Bedrock's Converse; Amazon's own models use the same."""
    return any(isinstance(chunk.get(name), dict) for name in _CONVERSE)


class ConverseAssembly:
    """Converse's answer as without streaming: content blocks by index; usage in the last event."""

    def __init__(self) -> None:
        self._top: JsonObject = {}
        self._message: JsonObject = {"role": "assistant"}
        self._blocks: Dict[int, JsonObject] = {}
        self._stopped = False

    def add(self, chunk: JsonObject) -> None:
        for name, value in chunk.items():
            event = object_of(value) or {}
            if name == "error":
                self._top["error"] = value
            elif name == "messageStart":
                self._message["role"] = event.get("role") or self._message["role"]
            elif name in ("contentBlockStart", "contentBlockDelta"):
                self._grow(event, event.get("start" if name == "contentBlockStart" else "delta"))
            elif name in ("messageStop", "metadata"):
                self._stopped = self._stopped or name == "messageStop"
                self._top.update({key: entry for key, entry in event.items() if key != "p"})

    def _grow(self, event: JsonObject, added: Any) -> None:
        given = dict(object_of(added) or {})
        block = entry_at(self._blocks, event.get("contentBlockIndex"), dict)
        if "citation" in given:
            list_in(block, "citations").append(given.pop("citation"))
        merge_delta(block, given)

    def body(self) -> JsonObject:
        content = [_converse_block(block) for block in in_order(self._blocks)]
        return {**self._top, "output": {"message": {**self._message, "content": content}}}

    def is_doubtful(self) -> bool:
        return False

    def ended(self) -> bool:
        return self._stopped


def _converse_block(block: JsonObject) -> JsonObject:
    """Tool input arrives as chunks of JSON text; thoughts are nested one level deeper in the final format."""
    body = dict(block)
    if "toolUse" in block:
        use = object_of(block["toolUse"]) or {}
        body["toolUse"] = {**use, "input": given_value(text_of(use.get("input")) or "{}")}
    thought = dict(object_of(block.get("reasoningContent")) or {})
    said = {name: thought.pop(name) for name in ("text", "signature") if name in thought}
    if said:
        body["reasoningContent"] = {**thought, "reasoningText": said}
    return body


def is_ollama_chunk(chunk: JsonObject) -> bool:
    """A chunk of ``/api/chat``, or of ``/api/generate``, which has its text in ``response``."""
    has_text = isinstance(chunk.get("message"), dict) or isinstance(chunk.get("response"), str)
    return isinstance(chunk.get("done"), bool) and has_text


class OllamaAssembly:
    """Ollama's answer as without streaming: text grows, calls arrive complete, the last chunk has the
    counts.
    """

    def __init__(self) -> None:
        self._top: JsonObject = {}
        self._message: JsonObject = {}

    def add(self, chunk: JsonObject) -> None:
        said = dict(object_of(chunk.get("message")) or {})
        calls = list_of(said.pop("tool_calls", None))
        merge_delta(self._message, said)
        if calls:
            list_in(self._message, "tool_calls").extend(calls)
        for name, value in chunk.items():
            if name in ("response", "thinking"):
                append_text(self._top, name, value)
            elif name != "message":
                self._top[name] = value

    def body(self) -> JsonObject:
        return {**self._top, "message": self._message} if self._message else dict(self._top)

    def is_doubtful(self) -> bool:
        return False

    def ended(self) -> bool:
        return self._top.get("done") is True
