"""One HTTP attempt of a model call, from its start to the end of its answer."""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Tuple

import httpx

from ._answers import error_of_answer, tokens_of
from ._bodies import AMAZON_EVENTS, BodyJson, KeptBody, KeptBytes, body_json, request_json
from ._budget import ByteBudget
from ._calls import ModelCall
from ._ids import id_time_ms, is_request_id, new_request_id
from ._json import field_at, text_of
from ._warn import Warn
from ._words import message_of
from .streams.assemble import STREAM_TEXT_FACTOR

#: Chunks within 5 % of the elapsed time share a mark: 250 marks are enough for ten minutes.
_SHARE_OF_TIME, _MIN_MS = 1.05, 0.5
#: An identifier further away may come from a cache, and ingest rejects those too far from its clock.
_MAX_APART_MS = 10 * 60_000
#: A stream is longer than its message. JSON lines: Ollama.
_STREAM_TYPES = re.compile(
    rf"text/event-stream|{re.escape(AMAZON_EVENTS)}|application/(?:x-)?(?:ndjson|jsonl|json-?lines|json-seq)\b"
)
#: Ingest would reject the record for a text that it cannot store.
_MODEL_FORM = re.compile(r"[\w./:@-]{1,256}", re.ASCII)
#: What is decoded of a compressed answer; the program holds all of it anyway.
_MAX_DECODED = 256 * 2**20
#: Compressed bytes decoded at once, so that the limit is noticed soon.
_DECODE_STEP = 4_096


class Recording(NamedTuple):
    """What attempts need of their client."""

    budget: ByteBudget
    max_body_bytes: int
    labels: Callable[[], Dict[str, Any]]
    record: Callable[[Dict[str, Any], str, str | None], None]
    build: Callable[[Callable[[], None], Callable[[], None]], None]
    lost: Callable[[BaseException], None]
    warn: Warn


class Attempt:
    """Observers never raise: what fails in them is counted as lost."""

    def __init__(self, call: ModelCall, body: str, recording: Recording) -> None:
        self._call, self._body, self._recording = call, body, recording
        self._start = time.perf_counter()
        self._id = new_request_id()
        self._labels = recording.labels()
        self._answer: KeptBody | None = None
        self._marks: List[Tuple[int, float]] = []
        self._status: int | None = None
        self._headers: Mapping[str, str] = {}
        self._is_over = False

    def _elapsed_ms(self) -> float:
        return (time.perf_counter() - self._start) * 1000

    def answered(self, status: int, headers: Mapping[str, str]) -> None:
        """Called with the head of the answer; ``headers`` in lower case."""
        self._status, self._headers = status, headers

    def chunk(self, data: bytes) -> None:
        """Called with each part of the answer's body, as it came over the wire."""
        try:
            if self._answer is None:
                is_stream = _STREAM_TYPES.match(self._content_type()) is not None
                limit = self._recording.max_body_bytes * (STREAM_TEXT_FACTOR if is_stream else 1)
                self._answer = KeptBody(limit, self._recording.budget)
            self._answer.add(data)
            passed, now = self._answer.length, self._elapsed_ms()
            if not self._marks or now > self._marks[-1][1] * _SHARE_OF_TIME + _MIN_MS:
                self._marks.append((passed, now))
            else:
                self._marks[-1] = (passed, self._marks[-1][1])
        except Exception as error:  # noqa: BLE001
            self._recording.lost(error)

    def end(self) -> None:
        """The answer was read to its end."""
        self._finish({})

    def fail(self, error: BaseException) -> None:
        """The attempt, or reading its answer, failed."""
        # A deadline is the client's own, and so is a cancelled task.
        is_client = not isinstance(error, Exception) or isinstance(error, asyncio.CancelledError)
        is_client = is_client or any(cls.__name__ == "TimeoutException" for cls in type(error).__mro__)
        self._finish({"error": message_of(error), "aborted_by": "client" if is_client else "upstream"})

    def abandon(self) -> None:
        """The reader closed the answer, or dropped it unread. Clients do not read answers that they retry."""
        is_ok = self._status is not None and 200 <= self._status < 300
        self._finish({"aborted_by": "client"} if is_ok else {})

    def _finish(self, end: Dict[str, Any]) -> None:
        if self._is_over:
            return
        self._is_over = True
        try:
            latency_ms = self._elapsed_ms()
            release = self._answer.release if self._answer is not None else lambda: None
            self._recording.build(lambda: self._build(end, latency_ms), release)
        except Exception as error:  # noqa: BLE001
            self._recording.lost(error)

    def _build(self, end: Dict[str, Any], latency_ms: float) -> None:
        """In the background."""
        answered = self._answered()
        if not self._call.is_model_call(self._body):
            return
        outcome = {} if answered is not None and answered.stream_ended else end
        fields: Dict[str, Any] = {"id": self._shared_id(), "source": "sdk", **self._labels}
        if self._call.provider is not None:
            fields["provider"] = self._call.provider
        fields["latency_ms"] = latency_ms
        if self._status is not None:
            fields["status_code"] = self._status
        if answered is not None:
            fields.update(self._first_token(answered))
        fields.update({**_said_by(answered, self._call, self._status), **outcome})
        request = request_json(self._body, self._recording.max_body_bytes).json
        self._recording.record(fields, request, None if answered is None else answered.json)

    def _answered(self) -> BodyJson | None:
        answer = self._answer
        if answer is None or answer.length == 0:
            return None
        try:
            coding = self._headers.get("content-encoding", "identity").strip().lower()
            kept = answer.read() if coding in ("", "identity") else self._decoded(answer, coding)
            return body_json(kept, self._recording.max_body_bytes, self._content_type())
        finally:
            answer.release()

    def _decoded(self, answer: KeptBody, coding: str) -> KeptBytes:
        """A compressed answer as the program sees it. Marks then count its bytes."""
        kept: List[bytes] = []
        size, is_whole = 0, answer.is_whole()
        marks: List[Tuple[int, float]] = []
        try:
            for passed, piece in _decode(answer.chunks(), coding):
                size += len(piece)
                kept.append(piece)
                marks.append((size, self._time_of(passed) or 0.0))
                if size > _MAX_DECODED:
                    is_whole = False
                    break
        except httpx.HTTPError:
            is_whole = False
        self._marks = marks
        whole = answer.read()
        sha256 = None if is_whole else whole.sha256 or _sha256(whole.body)
        return KeptBytes(b"".join(kept), size if is_whole else whole.length, sha256, b"".join(kept)[-4_096:])

    def _time_of(self, passed: int) -> float | None:
        return next((at for position, at in self._marks if position >= passed), None)

    def _first_token(self, answered: BodyJson) -> Dict[str, float]:
        end = answered.first_words_end
        at = None if end is None else self._time_of(end)
        return {} if at is None else {"time_to_first_token_ms": at}

    def _content_type(self) -> str:
        return self._headers.get("content-type", "")

    def _shared_id(self) -> str:
        """The identifier of this call, or the gateway's if the client's address is a gateway: stored once."""
        given = self._headers.get("x-service-request-id", "")
        if not is_request_id(given) or abs(id_time_ms(given) - id_time_ms(self._id)) > _MAX_APART_MS:
            return self._id
        self._recording.warn(
            "gateway",
            "a wrapped client calls through a gateway, which records its calls too: each is stored once, as the "
            "first of them says it, so labels may be missing. Do not wrap it",
        )
        return given


def _said_by(answered: BodyJson | None, call: ModelCall, status: int | None) -> Dict[str, Any]:
    """Fields that depend on the answer; ingest derives the others."""
    value = None if answered is None else answered.value
    said: Dict[str, Any] = {}
    error = error_of_answer(value, status)
    if error is not None:
        said["error"] = error
    # The answer's model is more exact than the path's.
    # Google calls it the version.
    if call.model is not None and text_of(field_at(value, "model")) is None:
        version = text_of(field_at(value, "modelVersion")) or ""
        said["model"] = version if _MODEL_FORM.fullmatch(version) else call.model
    return {**said, **tokens_of(value)} if answered is not None and answered.is_cut else said


def _decode(chunks: List[bytes], coding: str) -> Iterator[Tuple[int, bytes]]:
    """Decoded pieces, each with the count of compressed bytes that it took."""
    taken = [0]

    def given() -> Iterator[bytes]:
        for chunk in chunks:
            for at in range(0, len(chunk), _DECODE_STEP):
                part = chunk[at : at + _DECODE_STEP]
                taken[0] += len(part)
                yield part

    response = httpx.Response(200, headers={"content-encoding": coding}, content=given())
    for piece in response.iter_bytes():
        yield taken[0], piece


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
