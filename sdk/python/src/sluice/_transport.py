"""Transports of httpx, and of httpx2 with the same interface, that record model calls."""

from __future__ import annotations

import sys
from typing import Any, AsyncIterator, Dict, Iterator, Tuple

from ._attempt import Attempt
from ._gateway import Gateway
from ._observe import Failing, Observed, ObservedBody, Source, begin_attempt, follow_answer


class _SyncStream(ObservedBody):
    def __iter__(self) -> Iterator[bytes]:
        return self._chunks(self._inner)

    def close(self) -> None:
        self._attempt.abandon()
        self._inner.close()


class _AsyncStream(ObservedBody):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        with Failing(self._attempt, GeneratorExit):
            async for chunk in self._inner:
                self._attempt.chunk(chunk)
                yield chunk
        self._attempt.end()

    async def aclose(self) -> None:
        self._attempt.abandon()
        await self._inner.aclose()


class _Recorder(Observed):
    """What both kinds of transport share."""

    def __init__(self, inner: Any, source: Source, is_mistral: bool, stream: Any) -> None:
        super().__init__(inner)
        self._source, self._is_mistral, self._stream = source, is_mistral, stream
        self._gateway: Gateway | None = None

    def go_through(self, gateway: Gateway) -> None:
        """Requests to the gateway have its key from now on, and are recorded there."""
        self._gateway = gateway

    def _begin(self, request: Any) -> Attempt | None:
        if self._gateway is not None and self._gateway.takes(request):
            return None
        return begin_attempt(
            self._source, request.method, str(request.url), lambda: _body_of(request), self._is_mistral
        )

    def _follow(self, response: Any, attempt: Attempt) -> None:
        def follow() -> None:
            response.stream = self._stream(response.stream, attempt)

        # The stream of a transport that answers from memory is never read.
        follow_answer(attempt, response, follow)


class _SyncRecorder(_Recorder):
    def handle_request(self, request: Any) -> Any:
        attempt = self._begin(request)
        if attempt is None:
            return self._inner.handle_request(request)
        with Failing(attempt):
            response = self._inner.handle_request(request)
        self._follow(response, attempt)
        return response

    def __enter__(self) -> Any:
        self._inner.__enter__()
        return self

    def __exit__(self, *given: Any) -> None:
        self._inner.__exit__(*given)

    def close(self) -> None:
        self._inner.close()


class _AsyncRecorder(_Recorder):
    async def handle_async_request(self, request: Any) -> Any:
        attempt = self._begin(request)
        if attempt is None:
            return await self._inner.handle_async_request(request)
        with Failing(attempt):
            response = await self._inner.handle_async_request(request)
        self._follow(response, attempt)
        return response

    async def __aenter__(self) -> Any:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *given: Any) -> None:
        await self._inner.__aexit__(*given)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _body_of(request: Any) -> str | None:
    """None for uploads that are streamed, which are no model calls."""
    content = getattr(request, "_content", None)
    kind = request.headers.get("content-type", "")
    if not isinstance(content, bytes) or kind.startswith(("multipart/", "application/octet-stream")):
        return None
    return content.decode("utf-8", "replace")


_made: Dict[Tuple[str, bool], Tuple[Any, Any]] = {}


def _classes_of(package: str, is_async: bool) -> Tuple[Any, Any]:
    """The classes of transport and stream for ``httpx`` or ``httpx2``, whose clients check for their own."""
    if (package, is_async) not in _made:
        module = sys.modules[package]
        if is_async:
            transport = type("RecordingAsyncTransport", (_AsyncRecorder, module.AsyncBaseTransport), {})
            stream = type("RecordedAsyncStream", (_AsyncStream, module.AsyncByteStream), {})
        else:
            transport = type("RecordingTransport", (_SyncRecorder, module.BaseTransport), {})
            stream = type("RecordedStream", (_SyncStream, module.SyncByteStream), {})
        _made[(package, is_async)] = (transport, stream)
    return _made[(package, is_async)]


def recording_transport(inner: Any, source: Source, is_mistral: bool = False) -> Any:
    """``inner``, recording model calls. Raises TypeError for what is no transport."""
    if isinstance(inner, _Recorder):
        return inner
    is_async = callable(getattr(inner, "handle_async_request", None))
    for cls in type(inner).__mro__:
        package = cls.__module__.split(".")[0]
        module = sys.modules.get(package)
        base = getattr(module, "AsyncBaseTransport" if is_async else "BaseTransport", None)
        if isinstance(base, type) and isinstance(inner, base):
            transport, stream = _classes_of(package, is_async)
            return transport(inner, source, is_mistral, stream)
    raise TypeError(f"{type(inner).__name__} is not a transport of httpx")


def record_client(
    client: Any, source: Source, is_mistral: bool = False, gateway: Gateway | None = None
) -> bool:
    """Replaces the transports of an httpx client. Whether it is one whose transports are known."""
    transport = getattr(client, "_transport", None)
    mounts = getattr(client, "_mounts", None)
    if transport is None or not isinstance(mounts, dict):
        return False
    try:
        replaced = recording_transport(transport, source, is_mistral)
        others = {
            pattern: None if inner is None else recording_transport(inner, source, is_mistral)
            for pattern, inner in mounts.items()
        }
    except TypeError:
        return False
    client._transport = replaced
    mounts.update(others)
    if gateway is not None:
        for recorder in (replaced, *others.values()):
            if recorder is not None:
                recorder.go_through(gateway)
    _record_clients_of_loops(client, source)
    return True


def _record_clients_of_loops(client: Any, source: Source) -> None:
    """google-genai's asynchronous client sends by one inner client for each event loop, made when it is
    asked for.
    """
    client_for_loop = getattr(client, "_client_for_running_loop", None)
    if not callable(client_for_loop):
        return

    def recorded_client() -> Any:
        inner = client_for_loop()
        record_client(inner, source)
        return inner

    client._client_for_running_loop = recorded_client
