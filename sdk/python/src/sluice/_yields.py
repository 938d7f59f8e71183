"""The values that a generator yields."""

from __future__ import annotations

from typing import Any, List

from ._json import JsonObject, object_of, parse_json, text_of, to_json
from ._plain import Snapshot, take_snapshot
from .streams.assemble import StreamReader

#: Per generator, which may yield for ever.
_MAX_YIELDS = 1_000
_MAX_TEXT = 64 * 1024
#: Chunks are some ten times longer than their message, and a stream may not end.
_MAX_CHUNKS_LENGTH = 32 * 2**20
_MAX_STREAMS = 1_000
_BEGINNINGS = ("message_start", "response.created")


class Yields:
    """Consecutive texts are joined, as scorers would miss a word split over two. If all values are chunks
    of a provider's streams, they are assembled into messages.
    """

    def __init__(self) -> None:
        self._kept: List[Any] = []
        self._text: List[str] = []
        self._text_length = 0
        self._more = 0
        self._is_cut = False
        self._chunks: _Chunks | None = _Chunks()

    def add(self, value: Any) -> None:
        """Adds a value."""
        if self._chunks is not None and not self._chunks.add(value):
            self._chunks = None
        if isinstance(value, str):
            if self._text_length < _MAX_TEXT:
                self._text.append(value[: _MAX_TEXT - self._text_length])
            self._text_length += len(value)
            return
        self._end_text()
        self._keep(value)

    def taken(self) -> Snapshot:
        """All values as a list."""
        messages = None if self._chunks is None else self._chunks.messages()
        if messages is not None:
            snapshot = take_snapshot(messages)
            return Snapshot(snapshot.value, snapshot.is_cut or self._chunks is None or self._chunks.is_cut)
        self._end_text()
        more = [f"[{self._more} more]"] if self._more else []
        return Snapshot([*self._kept, *more], self._is_cut or self._more > 0)

    def _keep(self, value: Any) -> None:
        if len(self._kept) >= _MAX_YIELDS:
            self._more += 1
            return
        snapshot = take_snapshot(value)
        self._is_cut = self._is_cut or snapshot.is_cut
        self._kept.append(snapshot.value)

    def _end_text(self) -> None:
        if self._text_length == 0:
            return
        text = "".join(self._text)
        missing = self._text_length - len(text)
        self._is_cut = self._is_cut or missing > 0
        self._keep(text if missing == 0 else f"{text}… ({missing} more characters)")
        self._text, self._text_length = [], 0


class _Chunks:
    def __init__(self) -> None:
        self._readers: List[StreamReader] = []
        self._id: str | None = None
        self._length = 0
        self.is_cut = False

    def add(self, value: Any) -> bool:
        """Whether the value is a chunk of a known format."""
        chunk = _chunk_of(value)
        if chunk is None:
            return False
        chunk_id = text_of(chunk.get("id")) if "choices" in chunk else None
        begins = chunk.get("type") in _BEGINNINGS or (chunk_id is not None and chunk_id != self._id)
        begins = begins or not self._readers
        if self._length > _MAX_CHUNKS_LENGTH or (begins and len(self._readers) == _MAX_STREAMS):
            self.is_cut = True
            return True
        if begins:
            self._readers.append(StreamReader())
            self._id = chunk_id
        text = to_json(chunk)
        self._length += len(text)
        own = object_of(parse_json(text))
        if own is None:
            return False
        self._readers[-1].add_chunk(own)
        return True

    def messages(self) -> List[JsonObject] | None:
        """One message per stream; None for an unknown format."""
        assembled = [reader.assembled() for reader in self._readers]
        bodies = [found.body for found in assembled if found is not None]
        return bodies if bodies and len(bodies) == len(assembled) else None


def _chunk_of(value: Any) -> JsonObject | None:
    """The chunk as JSON; None in doubt, as programs have ``choices`` and events of their own."""
    try:
        if not isinstance(value, dict):
            dump = getattr(type(value), "model_dump", None)
            value = None if dump is None else value.model_dump(mode="json", exclude_unset=True)
        chunk = object_of(value)
        if chunk is None:
            return None
        kind = text_of(chunk.get("type")) or ""
        is_chat = chunk.get("object") == "chat.completion.chunk" and isinstance(chunk.get("choices"), list)
        is_event = kind.startswith(("response.", "message_", "content_block_")) or kind == "ping"
        return chunk if is_chat or is_event else None
    except Exception:  # noqa: BLE001 -- the program's own class: recorded like other values
        return None
