"""Recording of a program's own functions."""

from __future__ import annotations

import functools
import inspect
import time
import uuid
from typing import Any, AsyncIterator, Callable, Dict, Generator, NamedTuple, TypeVar

from ._bodies import bounded_json
from ._ids import new_request_id
from ._plain import Snapshot, take_snapshot
from ._session import current_session, in_session
from ._types import Session
from ._words import message_of
from ._yields import Yields

F = TypeVar("F", bound=Callable[..., Any])

_NEVER_READ = Snapshot("[never read]", False)


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

    def __init__(self, options: TraceOptions, session: Session, args: Any, kwargs: Any, tracing: Tracing) -> None:
        self._is_over = False
        self._tracing = tracing
        self._start = self._last = time.perf_counter()
        self._id = new_request_id()
        try:
            given = [*(args[1:] if options.is_method else args), *([kwargs] if kwargs else [])]
            taken = take_snapshot(given)
            self._request = {"type": "trace", "function": options.name, "arguments": taken.value, **taken.mark()}
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
        self._write({}, lambda: Snapshot(_NEVER_READ.value, True))

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
                response = None if result is None else bounded_json({"result": result.value, **result.mark()}, limit)
                tracing.record(fields, bounded_json(request, limit), response)

            tracing.build(build, lambda: None)
        except Exception as error:  # noqa: BLE001
            self._tracing.lost(error)


def trace_decorator(
    traced: Callable[..., Any] | None,
    name: str | None,
    model: str | None,
    session: Session,
    tracing: Callable[[], Tracing | None],
) -> Any:
    """``@trace`` with or without options. ``tracing`` is asked at each call: decorators run before ``configure``."""

    def decorate(function: F) -> F:
        # Of a method, `self` is not recorded.
        names = getattr(getattr(function, "__code__", None), "co_varnames", ())
        is_method = "." in getattr(function, "__qualname__", "") and names[:1] in (("self",), ("cls",))
        named = str(name or getattr(function, "__name__", "anonymous"))
        return trace_function(function, TraceOptions(named, model, session, is_method), tracing)

    return decorate if traced is None else decorate(traced)


def trace_function(traced: F, options: TraceOptions, tracing: Callable[[], Tracing | None]) -> F:
    """``traced``, with each call recorded: a function, coroutine function, generator or asynchronous generator."""

    def begin(args: Any, kwargs: Any) -> tuple[Session, Span] | None:
        found = tracing()
        if found is None:
            return None
        session = options.session.over(current_session(found.session))
        if session.session_id is None:
            session = Session(session_id=f"ses_{uuid.uuid4()}").over(session)
        return session, Span(options, session, args, kwargs, found)

    if inspect.iscoroutinefunction(traced):

        async def wrapped_coroutine(*args: Any, **kwargs: Any) -> Any:
            begun = begin(args, kwargs)
            if begun is None:
                return await traced(*args, **kwargs)
            session, span = begun
            try:
                with in_session(session):
                    result = await traced(*args, **kwargs)
            except BaseException as error:
                span.fail(error)
                raise
            return _follow(result, span, session)

        return _as(traced, wrapped_coroutine)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        begun = begin(args, kwargs)
        if begun is None:
            return traced(*args, **kwargs)
        session, span = begun
        try:
            with in_session(session):
                result = traced(*args, **kwargs)
        except BaseException as error:
            span.fail(error)
            raise
        return _follow(result, span, session)

    if inspect.isasyncgenfunction(traced) or inspect.isgeneratorfunction(traced):
        return _as(traced, _generator_function(traced, wrapped))
    return _as(traced, wrapped)


def _generator_function(traced: Callable[..., Any], wrapped: Callable[..., Any]) -> Callable[..., Any]:
    """Frameworks ask ``inspect`` what kind of function they were given."""
    if inspect.isasyncgenfunction(traced):
        return wrapped

    def generator(*args: Any, **kwargs: Any) -> Any:
        return (yield from wrapped(*args, **kwargs))

    return generator


def _as(traced: F, wrapped: Callable[..., Any]) -> F:
    functools.update_wrapper(wrapped, traced)
    return wrapped  # type: ignore[return-value]


def _follow(result: Any, span: Span, session: Session) -> Any:
    """The result, recorded when it is complete."""
    if inspect.isgenerator(result):
        return _follow_generator(result, span, session)
    if inspect.isasyncgen(result):
        return _follow_async_generator(result, span, session)
    if inspect.iscoroutine(result):
        return _follow_coroutine(result, span, session)
    span.end(lambda: take_snapshot(result))
    return result


async def _follow_coroutine(inner: Any, span: Span, session: Session) -> Any:
    """Of a plain function that returns a coroutine."""
    try:
        with in_session(session):
            result = await inner
    except BaseException as error:
        span.fail(error)
        raise
    span.end(lambda: take_snapshot(result))
    return result


def _yielded(yields: Yields, returned: Snapshot | None) -> Snapshot:
    taken = yields.taken()
    if returned is None:
        return Snapshot({"yielded": taken.value}, taken.is_cut)
    return Snapshot({"yielded": taken.value, "returned": returned.value}, taken.is_cut or returned.is_cut)


def _follow_generator(inner: Any, span: Span, session: Session) -> Generator[Any, Any, Any]:
    yields = Yields()
    step: Callable[[], Any] = lambda: next(inner)
    while True:
        try:
            with in_session(session):
                value = step()
        except StopIteration as stop:
            returned = None if stop.value is None else take_snapshot(stop.value)
            span.end(lambda: _yielded(yields, returned))
            return stop.value
        except BaseException as error:
            span.fail(error, lambda: _yielded(yields, None))
            raise
        yields.add(value)
        span.step()
        try:
            sent = yield value
            step = lambda: inner.send(sent)  # noqa: B023
        except GeneratorExit:
            span.drop(lambda: _yielded(yields, _NEVER_READ))
            inner.close()
            raise
        except BaseException as error:
            thrown = error
            step = lambda: inner.throw(thrown)  # noqa: B023


async def _follow_async_generator(inner: Any, span: Span, session: Session) -> AsyncIterator[Any]:
    yields = Yields()
    step: Callable[[], Any] = lambda: inner.__anext__()
    while True:
        try:
            with in_session(session):
                value = await step()
        except StopAsyncIteration:
            span.end(lambda: _yielded(yields, None))
            return
        except BaseException as error:
            span.fail(error, lambda: _yielded(yields, None))
            raise
        yields.add(value)
        span.step()
        try:
            sent = yield value
            step = lambda: inner.asend(sent)  # noqa: B023
        except GeneratorExit:
            span.drop(lambda: _yielded(yields, _NEVER_READ))
            await inner.aclose()
            raise
        except BaseException as error:
            thrown = error
            step = lambda: inner.athrow(thrown)  # noqa: B023
