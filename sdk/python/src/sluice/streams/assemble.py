"""The message of a stream, in any known format."""

from __future__ import annotations

import re
from typing import Any, Callable, List, NamedTuple, Protocol

from .._json import JsonObject, list_of, object_of, parse_json, text_of
from .chat import ChatAssembly, CompletionAssembly
from .events import END_MARK, parse_server_sent_events
from .messages import MessageAssembly
from .others import (
    CandidateAssembly,
    CohereAssembly,
    ConversationAssembly,
    ConverseAssembly,
    OllamaAssembly,
    is_conversation_event,
    is_converse_event,
    is_ollama_chunk,
)
from .responses import ResponseAssembly
from .words import holds_words

#: A stream is at least this many times longer than its message: it takes some 320 bytes per token.
STREAM_TEXT_FACTOR = 8
#: Rejecting invalid JSON takes microseconds, so millions of such events would take minutes.
_MAX_FAILURES = 1_000


class Assembly(Protocol):
    """Builds one message from a provider's chunks."""

    def add(self, chunk: JsonObject) -> None: ...

    def body(self) -> JsonObject: ...

    def ended(self) -> bool: ...

    def is_doubtful(self) -> bool: ...


class AssembledStream(NamedTuple):
    """``ended``: the stream reached its end, or the provider's error. ``first_words``: the last line of
    the first event with generated content.
    """

    body: JsonObject
    ended: bool
    first_words: str | None

    def recorded(self) -> JsonObject:
        """The recorded message, with ``truncated`` if the stream broke off."""
        return self.body if self.ended else {**self.body, "truncated": True}


def begins_as_list(text: str) -> bool:
    """Whether a text may be a JSON list, as Google sends chunks without SSE."""
    return re.match(r"\s*\[", text) is not None


def assemble_stream(text: str) -> AssembledStream | None:
    """None for an unknown format."""
    reader = StreamReader()
    if begins_as_list(text):
        for chunk in _chunks_listed(text):
            reader.add_chunk(chunk)
    elif _begins_as_lines(text):
        for line in text.split("\n"):
            reader.add(line)
    else:
        for data in parse_server_sent_events(text):
            reader.add(data)
    return reader.assembled() or _last_of_lines(text)


def assemble_events(events: List[str]) -> AssembledStream | None:
    """The same of events that were parsed already."""
    reader = StreamReader()
    for data in events:
        reader.add(data)
    return reader.assembled()


class StreamReader:
    """Reads events one by one."""

    def __init__(self) -> None:
        self._assembly: Assembly | None = None
        self._is_first = True
        self._done = False
        self._failures = 0
        self._first_words: str | None = None

    def add(self, data: str) -> None:
        """Adds the data of one event: JSON text, or an end mark."""
        if data == END_MARK:
            self._done = True
            return
        if self._failures > _MAX_FAILURES or not data.lstrip().startswith("{"):
            return
        chunk = object_of(parse_json(data))
        if chunk is None:
            self._failures += 1
            return
        if self._first_words is None and holds_words(chunk):
            self._first_words = data[data.rfind("\n") + 1 :]
        self.add_chunk(chunk)

    def add_chunk(self, chunk: JsonObject) -> None:
        """Adds a parsed chunk, which then belongs to the reader."""
        if self._assembly is None:
            make = _assembly_for(chunk, self._is_first)
            self._assembly = None if make is None else make()
        self._is_first = False
        # None before the first known format, for example for `ping`.
        if self._assembly is not None:
            self._assembly.add(chunk)

    def assembled(self) -> AssembledStream | None:
        """The message so far."""
        # It would lack everything after that many failures.
        if self._assembly is None or self._failures > _MAX_FAILURES:
            return None
        body = self._assembly.body()
        # Clients raise at a provider's error and disconnect, so an error is an end.
        ended = self._done or self._assembly.ended() or bool(body.get("error"))
        return AssembledStream(body, ended and not self._assembly.is_doubtful(), self._first_words)


def _assembly_for(chunk: JsonObject, is_first: bool) -> Callable[[], Assembly] | None:
    """Detects the format by a chunk; by an error only if no chunk came before."""
    kind = text_of(chunk.get("type")) or ""
    if kind.startswith("response."):
        return ResponseAssembly
    if is_conversation_event(kind):
        return ConversationAssembly
    if is_converse_event(chunk):
        return ConverseAssembly
    if is_ollama_chunk(chunk):
        return OllamaAssembly
    is_error = is_first and bool(chunk.get("error"))
    if is_first and kind == "error" and text_of(chunk.get("message")) is not None:
        return ResponseAssembly
    if kind == "message_start" or (kind == "error" and is_error):
        return MessageAssembly
    if kind == "message-start":
        return CohereAssembly
    if isinstance(chunk.get("candidates"), list):
        return CandidateAssembly
    choices = chunk.get("choices")
    has_text = any(isinstance(_field(choice, "text"), str) for choice in list_of(choices))
    if chunk.get("object") == "text_completion" or has_text:
        return CompletionAssembly
    is_chat = chunk.get("object") == "chat.completion.chunk" or isinstance(choices, list)
    return ChatAssembly if is_chat or is_error else None


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _chunks_listed(text: str) -> List[JsonObject]:
    """Empty for lists of anything else: two answers are no message, and an error is read elsewhere."""
    listed = [object_of(chunk) or {} for chunk in list_of(parse_json(text))]
    return listed if listed and isinstance(listed[0].get("candidates"), list) else []


def _begins_as_lines(text: str) -> bool:
    """Whether a text is Ollama's JSON lines."""
    if not text.lstrip().startswith("{"):
        return False
    first = text.lstrip().split("\n", 1)[0]
    return is_ollama_chunk(object_of(parse_json(first)) or {})


def _last_of_lines(text: str) -> AssembledStream | None:
    """Cohere v1 chat streams one JSON object per line; the last repeats the whole answer."""
    lines = text.rstrip().split("\n")
    last = object_of(parse_json(lines[-1]))
    body = object_of(last.get("response")) if last and last.get("event_type") == "stream-end" else None
    if body is None:
        return None
    first = next((line for line in lines if holds_words(object_of(parse_json(line)) or {})), None)
    return AssembledStream(body, True, first)
