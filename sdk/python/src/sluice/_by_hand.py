"""Calls that the program records itself."""

from __future__ import annotations

from typing import Any

from ._attempt import Recording
from ._bodies import bounded_json
from ._labels import label_fields
from ._record import call_fields
from ._tools import MISSING, tool_call_parts
from ._types import CallRecord, Session


class RecordsByHand:
    """The part of a client that records finished calls."""

    _recording: Recording | None

    def current_session(self) -> Session:
        """The labels that a call made here is recorded under."""
        raise NotImplementedError

    def record_tool_call(
        self,
        tool_name: str,
        arguments: Any = None,
        result: Any = MISSING,
        *,
        error: BaseException | str | None = None,
        latency_ms: float | None = None,
        model: str | None = None,
        session: Session | None = None,
    ) -> None:
        """Records a finished tool call: its result, or the error if it failed."""
        recording = self._recording
        if recording is None:
            return
        try:
            around = self.current_session()
            labels = label_fields(around if session is None else session.over(around), recording.warn, model)
            fields, request, response = tool_call_parts(tool_name, arguments, result, error, latency_ms)
            limit = recording.max_body_bytes

            def build() -> None:
                said = None if response is None else bounded_json(response, limit)
                recording.record({**fields, **labels}, bounded_json(request, limit), said)

            recording.build(build, lambda: None)
        except Exception as failure:  # noqa: BLE001 -- counted as lost
            recording.lost(failure)

    def record_call(
        self,
        request_body: CallRecord,
        response_body: CallRecord | None = None,
        *,
        error: BaseException | str | None = None,
        status_code: int | None = None,
        latency_ms: float | None = None,
        time_to_first_token_ms: float | None = None,
        provider: str | None = None,
        session: Session | None = None,
    ) -> None:
        """Records a finished model call that no transport sees. The bodies are best what the provider's
        API takes and answers, or chat completions; they are read later, so pass copies.
        """
        recording = self._recording
        if recording is None:
            return
        try:
            around = self.current_session()
            labels = label_fields(around if session is None else session.over(around), recording.warn)
            said_fields = call_fields(provider, latency_ms, time_to_first_token_ms, status_code, error)
            fields = {**said_fields, **labels}
            limit = recording.max_body_bytes

            def build() -> None:
                said = None if response_body is None else bounded_json(response_body, limit)
                recording.record(fields, bounded_json(request_body, limit), said)

            recording.build(build, lambda: None)
        except Exception as failure:  # noqa: BLE001 -- counted as lost
            recording.lost(failure)
