"""Recording of a program's own functions."""

from __future__ import annotations

import functools
import inspect
import uuid
from typing import Any, Callable, TypeVar

from ._follow import follow_result
from ._session import current_session, in_session
from ._span import Span, TraceOptions, Tracing
from ._types import Session

F = TypeVar("F", bound=Callable[..., Any])


def trace_decorator(
    traced: Callable[..., Any] | None,
    name: str | None,
    model: str | None,
    session: Session,
    tracing: Callable[[], Tracing | None],
) -> Any:
    """``@trace`` with or without options. ``tracing`` is asked at each call: decorators run before
    ``configure``.
    """

    def decorate(function: F) -> F:
        # Of a method, `self` is not recorded.
        names = getattr(getattr(function, "__code__", None), "co_varnames", ())
        is_method = "." in getattr(function, "__qualname__", "") and names[:1] in (("self",), ("cls",))
        named = str(name or getattr(function, "__name__", "anonymous"))
        return trace_function(function, TraceOptions(named, model, session, is_method), tracing)

    return decorate if traced is None else decorate(traced)


def trace_function(traced: F, options: TraceOptions, tracing: Callable[[], Tracing | None]) -> F:
    """``traced``, with each call recorded: a function, coroutine function, generator or asynchronous
    generator.
    """

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
            return follow_result(result, span, session)

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
        return follow_result(result, span, session)

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
