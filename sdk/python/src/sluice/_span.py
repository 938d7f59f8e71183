"""One call of a traced function."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, NamedTuple

from ._bodies import bounded_json
from ._ids import new_request_id
from ._plain import Snapshot, take_snapshot
from ._types import Session
from ._words import message_of

NEVER_READ = Snapshot("[never read]", False)


class Tracing(NamedTuple):
    """What traced functions need of their client. ``labels`` takes a session and a model."""

    session: Session
    max_body_bytes: int
    labels: Callable[[Session, "str | None"], Dict[str, Any]]
    record: Callable[[Dict[str, Any], str, "str | None"], None]
    build: Callable[[Callable[[], None], Callable[[], None]], None]
    lost: Callable[[BaseException], None]


class TraceOptions(NamedTuple):
    """Options of a traced function."""

    name: str
    model: str | None
    session: Session
    is_method: bool


class Span:
    """One call of a traced function. Its methods never raise."""

    def __init__(
        self, options: TraceOptions, session: Session, args: Any, kwargs: Any, tracing: Tracing
    ) -> None:
        self._is_over = False
        self._tracing = tracing
        self._start = self._last = time.perf_counter()
        self._id = new_request_id()
        try:
            given = [*(args[1:] if options.is_method else args), *([kwargs] if kwargs else [])]
            taken = take_snapshot(given)
            self._request = {
                "type": "trace",
                "function": options.name,
                "arguments": taken.value,
                **taken.mark(),
            }
            self._labels = tracing.labels(session, options.model)
        except Exception as error:  # noqa: BLE001
            self._is_over = True
            tracing.lost(error)

    def end(self, output: Callable[[], Snapshot]) -> None:
        """The function returned."""
        self._last = time.perf_counter()
        self._write({}, output)

    def fail(self, error: BaseException, output: Callable[[], Snapshot] | None = None) -> None:
        """The function raised."""
        self._last = time.perf_counter()
        self._write({"error": message_of(error)}, output)

    def step(self) -> None:
        """A generator came to a value: the time of a call that is never finished."""
        self._last = time.perf_counter()

    def drop(self, output: Callable[[], Snapshot]) -> None:
        """The program let go of a result that it did not read to its end."""
        self._write({}, output)

    def __del__(self) -> None:
        self._write({}, lambda: Snapshot(NEVER_READ.value, True))

    def _write(self, outcome: Dict[str, Any], output: Callable[[], Snapshot] | None) -> None:
        if self._is_over:
            return
        self._is_over = True
        try:
            result = None if output is None else output()
            fields = {"id": self._id, "source": "trace", **self._labels}
            fields["latency_ms"] = (self._last - self._start) * 1000
            fields.update(outcome)
            tracing, request = self._tracing, self._request

            def build() -> None:
                limit = tracing.max_body_bytes
                response = (
                    None if result is None else bounded_json({"result": result.value, **result.mark()}, limit)
                )
                tracing.record(fields, bounded_json(request, limit), response)

            tracing.build(build, lambda: None)
        except Exception as error:  # noqa: BLE001
            self._tracing.lost(error)
