"""The session of the running code, which follows it into coroutines and tasks."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import Iterator

from ._types import Session

_current: ContextVar[Session] = ContextVar("sluice_session", default=Session())


def current_session(base: Session) -> Session:
    """The caller's session over ``base``."""
    return _current.get().over(base)


@contextlib.contextmanager
def in_session(session: Session) -> Iterator[Session]:
    """Runs a ``with`` block inside ``session``, joined with the enclosing one."""
    joined = session.over(_current.get())
    token = _current.set(joined)
    try:
        yield joined
    finally:
        try:
            _current.reset(token)
        except ValueError:
            # A generator that another task or thread finishes: that context never had the session.
            pass
