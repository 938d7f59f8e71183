"""Bodies as they are recorded."""

from __future__ import annotations

import hashlib
import re
import threading
from typing import Any, List, NamedTuple

from ._budget import ByteBudget
from ._json import JsonObject, fits_record, list_of, object_of, parse_json, to_json
from .streams.assemble import AssembledStream, assemble_events, assemble_stream, begins_as_list
from .streams.events import read_amazon_events
from .streams.merge import later_counts
from .streams.pieces import is_chunked, join_pieces

_END_BYTES = 4_096
_MAX_LISTED = 65_536
_USAGE = re.compile(r'"(usage|usageMetadata)"\s*:\s*(?=\{)')
AMAZON_EVENTS = "application/vnd.amazon.eventstream"


class KeptBytes(NamedTuple):
    """``sha256`` and ``end``, the last bytes, are set if only a part was kept."""

    body: bytes
    length: int
    sha256: str | None
    end: bytes


class KeptBody:
    """A passing body up to ``max_bytes`` and the memory budget; beyond them length, SHA-256 and last
    bytes.
    """

    def __init__(self, max_bytes: int, budget: ByteBudget) -> None:
        self._max = max_bytes
        self._budget = budget
        self._chunks: List[bytes] = []
        self._kept = 0
        self.length = 0
        self._hash: Any = None
        self._end = b""
        self._lock = threading.RLock()

    def add(self, chunk: bytes) -> None:
        """Adds a chunk."""
        with self._lock:
            self.length += len(chunk)
            left = self._max - self._kept
            if self._hash is None and (len(chunk) > left or not self._keep(chunk)):
                self._hash = hashlib.sha256()
                for kept in self._chunks:
                    self._hash.update(kept)
                if len(chunk) > left:
                    self._keep(chunk[:left])
            if self._hash is not None:
                self._hash.update(chunk)
                self._end = (self._end + chunk[-_END_BYTES:])[-_END_BYTES:]

    def _keep(self, chunk: bytes) -> bool:
        if not self._budget.acquire(len(chunk)):
            return False
        self._kept += len(chunk)
        self._chunks.append(chunk)
        return True

    def read(self) -> KeptBytes:
        """The kept part. Its bytes stay acquired until ``release``."""
        sha256 = None if self._hash is None else self._hash.hexdigest()
        return KeptBytes(b"".join(self._chunks), self.length, sha256, self._end)

    def chunks(self) -> List[bytes]:
        """The kept chunks, as they came."""
        return list(self._chunks)

    def is_whole(self) -> bool:
        """Whether everything was kept."""
        return self._hash is None

    def release(self) -> None:
        """Gives the memory back."""
        with self._lock:
            self._budget.release(self._kept)
            self._kept = 0
            self._chunks.clear()


class BodyJson(NamedTuple):
    """``value``: the parsed body, None if it is no JSON object. ``is_cut``: ``json`` lacks what ``value``
    has. ``first_words_end``: bytes of a stream up to the end of the first event with generated content.
    """

    json: str
    value: JsonObject | None
    is_cut: bool
    stream_ended: bool = False
    first_words_end: int | None = None


def request_json(text: str, max_bytes: int) -> BodyJson:
    """A request: a JSON object unchanged, anything else as ``{"raw", "encoding"}``."""
    body = text.encode("utf-8", "surrogatepass")
    return body_json(KeptBytes(body, len(body), None, b""), max_bytes, None)


def body_json(kept: KeptBytes, max_bytes: int, content_type: str | None) -> BodyJson:
    """A JSON object unchanged, a stream as its message, anything else as ``{"raw", "encoding"}``, for
    chunked answers with ``joined``. A truncated body becomes ``{"truncated", "bytes", "sha256",
    "text"}``. Without ``content_type`` it is a request.
    """
    text = kept.body.decode("utf-8", "replace")
    assembled: AssembledStream | None = None
    words_end: int | None = None
    if content_type is not None and content_type.startswith(AMAZON_EVENTS):
        events = read_amazon_events(kept.body)
        assembled = assemble_events([event.data for event in events])
        text = "".join(f"data: {event.data}\n\n" for event in events)
        if assembled is not None and assembled.first_words is not None:
            words = assembled.first_words
            words_end = next((event.end for event in events if event.data.endswith(words)), None)
    elif content_type is not None and (
        not content_type.startswith("application/json") or begins_as_list(text)
    ):
        assembled = assemble_stream(text)
        if assembled is not None and assembled.first_words is not None:
            words_end = _end_of(assembled.first_words, kept.body)
    said = text if assembled is None else to_json(assembled.recorded())
    ended = assembled is not None and assembled.ended
    if kept.sha256 is not None:
        # A truncated stream is recorded as what its kept part contains, marked as truncated.
        cut = truncated_json(said, kept.length, kept.sha256, max_bytes)
        value = with_usage_at_end(assembled.body if assembled is not None else {}, kept.end)
        return BodyJson(cut, value, True, ended, words_end)
    value_or_none = (
        assembled.body if assembled is not None else object_of(parse_json(text)) or _error_listed(text)
    )
    is_object = value_or_none is not None and (assembled is not None or not begins_as_list(text))
    is_whole = is_object and not _is_tool_call(value_or_none) and fits_record(said)
    whole = said if is_whole else raw_json(said, max_bytes, content_type)
    if len(whole.encode("utf-8", "surrogatepass")) <= max_bytes:
        return BodyJson(whole, value_or_none, whole != said, ended, words_end)
    return BodyJson(_cut(said, max_bytes), value_or_none, True, ended, words_end)


def bounded_json(value: JsonObject, max_bytes: int) -> str:
    """JSON text, truncated beyond ``max_bytes``."""
    text = to_json(value)
    return text if len(text.encode("utf-8")) <= max_bytes else _cut(text, max_bytes)


def raw_json(raw: str, max_bytes: int, content_type: str | None) -> str:
    """A body that is recorded as text. Requests are recorded as sent, without ``joined``."""
    wrapper: JsonObject = {"raw": raw, "encoding": "utf8"}
    is_stream = content_type is not None and content_type.startswith(("text/event-stream", AMAZON_EVENTS))
    if content_type is None or not (is_stream or is_chunked(raw)):
        return to_json(wrapper)
    joined = to_json({**wrapper, "joined": join_pieces(raw)})
    return joined if len(joined.encode("utf-8")) <= max_bytes else to_json({**wrapper, "joined": []})


def truncated_json(whole: str, length: int, sha256: str, max_bytes: int) -> str:
    """The beginning of a text, with its length and SHA-256."""
    text = whole[:max_bytes]
    while True:
        found = to_json({"truncated": True, "bytes": length, "sha256": sha256, "text": text})
        size = len(found.encode("utf-8"))
        if size <= max_bytes or text == "":
            return found
        # Escapes make text longer.
        text = text[: int(len(text) * (max_bytes / size) * 0.98)]


def with_usage_at_end(body: JsonObject, end: bytes) -> JsonObject:
    """Adds the token counts at an answer's end, as providers write them last."""
    text = end.decode("utf-8", "replace")
    found = list(_USAGE.finditer(text))
    if not found:
        return body
    usage = _first_object(text[found[-1].end() :])
    name = found[-1].group(1)
    return body if usage is None else {**body, name: later_counts(body.get(name) or {}, usage)}


def _first_object(text: str) -> JsonObject | None:
    for end in (at for at, character in enumerate(text) if character == "}"):
        value = object_of(parse_json(text[: end + 1]))
        if value is not None:
            return value
    return None


def _cut(text: str, max_bytes: int) -> str:
    whole = text.encode("utf-8", "surrogatepass")
    return truncated_json(text, len(whole), hashlib.sha256(whole).hexdigest(), max_bytes)


def _end_of(text: str, body: bytes) -> int | None:
    encoded = text.encode("utf-8", "surrogatepass")
    at = body.find(encoded)
    return None if at == -1 else at + len(encoded)


def _is_tool_call(value: JsonObject | None) -> bool:
    """A body of ours from outside must not pass for the record of a tool call."""
    return value is not None and value.get("type") == "mcp_tool_call"


def _error_listed(text: str) -> JsonObject | None:
    """The error of an answer that is a JSON list, as Gemini's is in OpenAI's clients."""
    if len(text) > _MAX_LISTED or not begins_as_list(text):
        return None
    listed = list_of(parse_json(text))
    first = object_of(listed[0]) if listed else None
    return first if first is not None and first.get("error") else None
