"""Records an application's calls to language models and tools in Sluice.

>>> from openai import OpenAI
>>> import sluice
>>> client = sluice.wrap(OpenAI())
"""

from __future__ import annotations

import threading
from typing import Any, Callable, ContextManager, Mapping, TypeVar, overload

import httpx

from ._client import SluiceClient
from ._tools import MISSING
from ._trace import trace_decorator
from ._types import BeforeSend, CallRecord, Session, Stats

__all__ = [
    "BeforeSend",
    "CallRecord",
    "Session",
    "SluiceClient",
    "Stats",
    "async_httpx_transport",
    "configure",
    "flush",
    "httpx_transport",
    "record_tool_call",
    "session",
    "shutdown",
    "stats",
    "trace",
    "wrap",
]

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_standard: SluiceClient | None = None
_lock = threading.RLock()


def configure(
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    agent_name: str | None = None,
    agent_tag: str | None = None,
    session_id: str | None = None,
    user_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    before_send: BeforeSend | None = None,
    max_queue_bytes: int | None = None,
    max_body_bytes: int | None = None,
) -> SluiceClient:
    """Sets up the client for the functions of this module; see ``SluiceClient``. A further call replaces it; the old
    client still sends its records."""
    global _standard
    made = SluiceClient(
        api_key=api_key,
        base_url=base_url,
        agent_name=agent_name,
        agent_tag=agent_tag,
        session_id=session_id,
        user_id=user_id,
        metadata=metadata,
        before_send=before_send,
        max_queue_bytes=max_queue_bytes,
        max_body_bytes=max_body_bytes,
    )
    with _lock:
        _standard = made
    return made


def _client() -> SluiceClient:
    """Configured by the environment, unless ``configure`` was called."""
    global _standard
    with _lock:
        if _standard is None:
            _standard = SluiceClient()
        return _standard


def wrap(client: T) -> T:
    """See ``SluiceClient.wrap``."""
    return _client().wrap(client)


@overload
def trace(traced: F) -> F: ...


@overload
def trace(
    *,
    name: str | None = None,
    model: str | None = None,
    session_id: str | None = None,
    agent_name: str | None = None,
    agent_tag: str | None = None,
    user_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Callable[[F], F]: ...


def trace(
    traced: Any = None,
    *,
    name: str | None = None,
    model: str | None = None,
    session_id: str | None = None,
    agent_name: str | None = None,
    agent_tag: str | None = None,
    user_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Any:
    """See ``SluiceClient.trace``. The client is looked up at each call: modules decorate before ``configure``."""
    inner = Session(session_id, agent_name, agent_tag, user_id, metadata)
    return trace_decorator(traced, name, model, inner, lambda: _client().tracing())


def record_tool_call(
    tool_name: str,
    arguments: Any = None,
    result: Any = MISSING,
    *,
    error: BaseException | str | None = None,
    latency_ms: float | None = None,
    model: str | None = None,
    session: Session | None = None,
) -> None:
    """See ``SluiceClient.record_tool_call``."""
    _client().record_tool_call(
        tool_name, arguments, result, error=error, latency_ms=latency_ms, model=model, session=session
    )


def session(
    session_id: str | None = None,
    *,
    agent_name: str | None = None,
    agent_tag: str | None = None,
    user_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> ContextManager[Session]:
    """See ``SluiceClient.session``."""
    return _client().session(
        session_id, agent_name=agent_name, agent_tag=agent_tag, user_id=user_id, metadata=metadata
    )


def httpx_transport(inner: httpx.BaseTransport | None = None) -> httpx.BaseTransport:
    """See ``SluiceClient.httpx_transport``."""
    return _client().httpx_transport(inner)


def async_httpx_transport(inner: httpx.AsyncBaseTransport | None = None) -> httpx.AsyncBaseTransport:
    """See ``SluiceClient.async_httpx_transport``."""
    return _client().async_httpx_transport(inner)


def flush(timeout: float = 5.0) -> bool:
    """See ``SluiceClient.flush``."""
    return _client().flush(timeout)


def shutdown(timeout: float = 5.0) -> None:
    """See ``SluiceClient.shutdown``."""
    _client().shutdown(timeout)


def stats() -> Stats:
    """See ``SluiceClient.stats``."""
    return _client().stats()
