"""boto3's client for Bedrock's models."""

from __future__ import annotations

from typing import Any, Iterator

from ._observe import Failing, Observed, ObservedBody, Source, begin_attempt, follow_answer


def is_bedrock_client(client: Any) -> bool:
    """Whether it is boto3's client of ``bedrock-runtime``."""
    model = getattr(getattr(client, "meta", None), "service_model", None)
    return getattr(model, "service_name", None) == "bedrock-runtime"


class _Raw(ObservedBody, Observed):
    """The answer's connection, observed: botocore reads it with ``read`` or ``stream``."""

    def read(self, amt: int | None = None, *args: Any, **kwargs: Any) -> Any:
        with Failing(self._attempt):
            data = self._inner.read(amt, *args, **kwargs)
        if data:
            self._attempt.chunk(data)
        if amt is None or (amt > 0 and not data):
            self._attempt.end()
        return data

    def stream(self, *args: Any, **kwargs: Any) -> Iterator[bytes]:
        return self._chunks(self._inner.stream(*args, **kwargs))

    def __iter__(self) -> Iterator[bytes]:
        return self.stream()

    def close(self) -> None:
        self._attempt.abandon()
        self._inner.close()


class RecordingSession(Observed):
    """Takes the place of botocore's HTTP session."""

    def __init__(self, inner: Any, source: Source) -> None:
        super().__init__(inner)
        self._source = source

    def send(self, request: Any) -> Any:
        attempt = begin_attempt(self._source, request.method, request.url, lambda: _body_of(request))
        if attempt is None:
            return self._inner.send(request)
        with Failing(attempt):
            response = self._inner.send(request)

        def follow() -> None:
            response.raw = _Raw(response.raw, attempt)

        # urllib3 decodes what it is asked for. The session has read an answer that is no stream.
        follow_answer(attempt, response, follow, is_decoded=True)
        return response


def _body_of(request: Any) -> str | None:
    body = request.body
    text = body.decode("utf-8", "replace") if isinstance(body, (bytes, bytearray)) else body
    return text if isinstance(text, str) else None


def wrap_bedrock_client(client: Any, source: Source) -> bool:
    """Whether the client's session was replaced."""
    endpoint = getattr(client, "_endpoint", None)
    session = getattr(endpoint, "http_session", None)
    if endpoint is None or not callable(getattr(session, "send", None)):
        return False
    endpoint.http_session = RecordingSession(session, source)
    return True
