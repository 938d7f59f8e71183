"""Transports of httpx, and of httpx2 with the same interface, that record model calls."""

from __future__ import annotations

import sys
from typing import Any, AsyncIterator, Callable, Dict, Iterator, Tuple

from ._attempt import Attempt, Recording
from ._calls import model_call_of


class _SyncStream:
    """The body of an answer, observed. Nothing is read ahead or held back."""

    def __init__(self, inner: Any, attempt: Attempt) -> None:
        self._inner, self._attempt = inner, attempt

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._inner:
                self._attempt.chunk(chunk)
                yield chunk
        except GeneratorExit:
            raise
        except BaseException as error:
            self._attempt.fail(error)
            raise
        self._attempt.end()

    def close(self) -> None:
        self._attempt.abandon()
        self._inner.close()

    def __del__(self) -> None:
        self._attempt.abandon()


class _AsyncStream:
    """The same for asynchronous clients."""

    def __init__(self, inner: Any, attempt: Attempt) -> None:
        self._inner, self._attempt = inner, attempt

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._inner:
                self._attempt.chunk(chunk)
                yield chunk
        except GeneratorExit:
            raise
        except BaseException as error:
            self._attempt.fail(error)
            raise
        self._attempt.end()

    async def aclose(self) -> None:
        self._attempt.abandon()
        await self._inner.aclose()

    def __del__(self) -> None:
        self._attempt.abandon()


class _Recorder:
    """What both kinds of transport share. ``recording`` returns None while recording is off."""

    def __init__(
        self, inner: Any, recording: Callable[[], Recording | None], is_mistral: bool, stream: Any
    ) -> None:
        self._inner, self._recording, self._is_mistral, self._stream = inner, recording, is_mistral, stream

    def _begin(self, request: Any) -> Attempt | None:
        recording: Recording | None = None
        try:
            recording = self._recording()
            if recording is None or request.method.upper() != "POST":
                return None
            call = model_call_of(str(request.url), self._is_mistral)
            if call is None:
                return None
            body = _body_of(request)
            return None if body is None else Attempt(call, body, recording)
        except Exception as error:  # noqa: BLE001 -- counted as lost; the call goes on
            if recording is not None:
                recording.lost(error)
            return None

    def _observe(self, response: Any, attempt: Attempt) -> None:
        try:
            attempt.answered(
                response.status_code, {name.lower(): value for name, value in response.headers.items()}
            )
            loaded = getattr(response, "_content", None)
            if isinstance(loaded, bytes):
                # A transport that answers from memory: its stream is never read, and is decoded already.
                attempt.answered(
                    response.status_code,
                    {
                        name.lower(): value
                        for name, value in response.headers.items()
                        if name != "content-encoding"
                    },
                )
                attempt.chunk(loaded)
                attempt.end()
            else:
                response.stream = self._stream(response.stream, attempt)
        except Exception as error:  # noqa: BLE001 -- recorded without its body
            attempt.fail(error)

    def __getattr__(self, name: str) -> Any:
        # Programs reach for the pool of their own transport.
        if name.startswith("__") or name == "_inner":
            raise AttributeError(name)
        return getattr(self._inner, name)


class _SyncRecorder(_Recorder):
    def handle_request(self, request: Any) -> Any:
        attempt = self._begin(request)
        if attempt is None:
            return self._inner.handle_request(request)
        try:
            response = self._inner.handle_request(request)
        except BaseException as error:
            attempt.fail(error)
            raise
        self._observe(response, attempt)
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
        try:
            response = await self._inner.handle_async_request(request)
        except BaseException as error:
            attempt.fail(error)
            raise
        self._observe(response, attempt)
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


def recording_transport(
    inner: Any, recording: Callable[[], Recording | None], is_mistral: bool = False
) -> Any:
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
            return transport(inner, recording, is_mistral, stream)
    raise TypeError(f"{type(inner).__name__} is not a transport of httpx")


def record_client(client: Any, recording: Callable[[], Recording | None], is_mistral: bool = False) -> bool:
    """Replaces the transports of an httpx client. Whether it is one whose transports are known."""
    transport = getattr(client, "_transport", None)
    mounts = getattr(client, "_mounts", None)
    if transport is None or not isinstance(mounts, dict):
        return False
    try:
        replaced = recording_transport(transport, recording, is_mistral)
        others = {
            pattern: None if inner is None else recording_transport(inner, recording, is_mistral)
            for pattern, inner in mounts.items()
        }
    except TypeError:
        return False
    client._transport = replaced
    mounts.update(others)
    _record_clients_of_loops(client, recording)
    return True


def _record_clients_of_loops(client: Any, recording: Callable[[], Recording | None]) -> None:
    """google-genai's asynchronous client sends by one inner client for each event loop, made when it is
    asked for.
    """
    client_for_loop = getattr(client, "_client_for_running_loop", None)
    if not callable(client_for_loop):
        return

    def recorded_client() -> Any:
        inner = client_for_loop()
        record_client(inner, recording)
        return inner

    client._client_for_running_loop = recorded_client
