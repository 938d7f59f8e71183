"""boto3's client for Bedrock's models."""

from __future__ import annotations

from typing import Any, Callable, Iterator

from ._attempt import Attempt, Recording
from ._calls import model_call_of


def is_bedrock_client(client: Any) -> bool:
    """Whether it is boto3's client of ``bedrock-runtime``."""
    model = getattr(getattr(client, "meta", None), "service_model", None)
    return getattr(model, "service_name", None) == "bedrock-runtime"


class _Raw:
    """The answer's connection, observed: botocore reads it with ``read`` or ``stream``."""

    def __init__(self, inner: Any, attempt: Attempt) -> None:
        self._inner, self._attempt = inner, attempt

    def read(self, amt: int | None = None, *args: Any, **kwargs: Any) -> Any:
        try:
            data = self._inner.read(amt, *args, **kwargs)
        except BaseException as error:
            self._attempt.fail(error)
            raise
        if data:
            self._attempt.chunk(data)
        if amt is None or (amt > 0 and not data):
            self._attempt.end()
        return data

    def stream(self, *args: Any, **kwargs: Any) -> Iterator[bytes]:
        try:
            for chunk in self._inner.stream(*args, **kwargs):
                self._attempt.chunk(chunk)
                yield chunk
        except GeneratorExit:
            raise
        except BaseException as error:
            self._attempt.fail(error)
            raise
        self._attempt.end()

    def __iter__(self) -> Iterator[bytes]:
        return self.stream()

    def close(self) -> None:
        self._attempt.abandon()
        self._inner.close()

    def __del__(self) -> None:
        self._attempt.abandon()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._inner, name)


class RecordingSession:
    """Takes the place of botocore's HTTP session."""

    def __init__(self, inner: Any, recording: Callable[[], Recording | None]) -> None:
        self._inner, self._recording = inner, recording

    def send(self, request: Any) -> Any:
        attempt = self._begin(request)
        if attempt is None:
            return self._inner.send(request)
        try:
            response = self._inner.send(request)
        except BaseException as error:
            attempt.fail(error)
            raise
        try:
            headers = {str(name).lower(): str(value) for name, value in response.headers.items()}
            # urllib3 decodes what it is asked for.
            headers.pop("content-encoding", None)
            attempt.answered(response.status_code, headers)
            if response._content is None:
                response.raw = _Raw(response.raw, attempt)
            else:
                # The session has read an answer that is no stream.
                attempt.chunk(response._content)
                attempt.end()
        except Exception as error:  # noqa: BLE001 -- recorded without its body
            attempt.fail(error)
        return response

    def _begin(self, request: Any) -> Attempt | None:
        recording: Recording | None = None
        try:
            recording = self._recording()
            call = model_call_of(request.url) if recording is not None else None
            if recording is None or call is None or request.method != "POST":
                return None
            body = request.body
            text = body.decode("utf-8", "replace") if isinstance(body, (bytes, bytearray)) else body
            return Attempt(call, text, recording) if isinstance(text, str) else None
        except Exception as error:  # noqa: BLE001 -- counted as lost; the call goes on
            if recording is not None:
                recording.lost(error)
            return None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._inner, name)


def wrap_bedrock_client(client: Any, recording: Callable[[], Recording | None]) -> bool:
    """Whether the client's session was replaced."""
    endpoint = getattr(client, "_endpoint", None)
    session = getattr(endpoint, "http_session", None)
    if endpoint is None or not callable(getattr(session, "send", None)):
        return False
    endpoint.http_session = RecordingSession(session, recording)
    return True
