"""Results of traced functions, recorded when they are complete."""

from __future__ import annotations

import inspect
from typing import Any, AsyncIterator, Callable, Generator

from ._plain import Snapshot, take_snapshot
from ._session import in_session
from ._span import NEVER_READ, Span
from ._types import Session
from ._yields import Yields


def follow_result(result: Any, span: Span, session: Session) -> Any:
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
            span.drop(lambda: _yielded(yields, NEVER_READ))
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
            span.drop(lambda: _yielded(yields, NEVER_READ))
            await inner.aclose()
            raise
        except BaseException as error:
            thrown = error
            step = lambda: inner.athrow(thrown)  # noqa: B023
