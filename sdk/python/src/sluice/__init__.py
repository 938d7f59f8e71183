"""Records an application's calls to language models and tools in Sluice.

>>> from openai import OpenAI
>>> import sluice
>>> client = sluice.wrap(OpenAI())
"""

from __future__ import annotations

from typing import Any, Callable, ContextManager, Mapping, Sequence, TypeVar, overload

import httpx

from . import _standard
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
    "record_call",
    "record_tool_call",
    "session",
    "shutdown",
    "stats",
    "trace",
    "wrap",
]

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def configure(
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    proxy_url: str | None = None,
    proxy_api_key: str | None = None,
    agent_name: str | None = None,
    agent_tag: str | None = None,
    session_id: str | None = None,
    user_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    before_send: BeforeSend | None = None,
    max_queue_bytes: int | None = None,
    max_body_bytes: int | None = None,
    spool_dir: str | None = None,
    max_spool_bytes: int | None = None,
) -> SluiceClient:
    """Sets up the client for the functions of this module; see ``SluiceClient``. A further call replaces
    it; the old client still sends its records.
    """
    made = SluiceClient(
        api_key=api_key,
        base_url=base_url,
        proxy_url=proxy_url,
        proxy_api_key=proxy_api_key,
        agent_name=agent_name,
        agent_tag=agent_tag,
        session_id=session_id,
        user_id=user_id,
        metadata=metadata,
        before_send=before_send,
        max_queue_bytes=max_queue_bytes,
        max_body_bytes=max_body_bytes,
        spool_dir=spool_dir,
        max_spool_bytes=max_spool_bytes,
    )
    return _standard.replace_standard(made)


def wrap(client: T) -> T:
    """See ``SluiceClient.wrap``."""
    return _standard.standard_client().wrap(client)


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
    """See ``SluiceClient.trace``. The client is looked up at each call: modules decorate before
    ``configure``.
    """
    inner = Session(session_id, agent_name, agent_tag, user_id, metadata)
    return trace_decorator(traced, name, model, inner, lambda: _standard.standard_client().tracing())


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
    _standard.standard_client().record_tool_call(
        tool_name, arguments, result, error=error, latency_ms=latency_ms, model=model, session=session
    )


def record_call(
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
    """See ``SluiceClient.record_call``."""
    _standard.standard_client().record_call(
        request_body,
        response_body,
        error=error,
        status_code=status_code,
        latency_ms=latency_ms,
        time_to_first_token_ms=time_to_first_token_ms,
        provider=provider,
        session=session,
    )


def session(
    session_id: str | None = None,
    *,
    agent_name: str | None = None,
    agent_tag: str | None = None,
    user_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    context: Sequence[int | str] | None = None,
) -> ContextManager[Session]:
    """See ``SluiceClient.session``."""
    return _standard.standard_client().session(
        session_id,
        agent_name=agent_name,
        agent_tag=agent_tag,
        user_id=user_id,
        metadata=metadata,
        context=context,
    )


def httpx_transport(inner: httpx.BaseTransport | None = None) -> httpx.BaseTransport:
    """See ``SluiceClient.httpx_transport``."""
    return _standard.standard_client().httpx_transport(inner)


def async_httpx_transport(inner: httpx.AsyncBaseTransport | None = None) -> httpx.AsyncBaseTransport:
    """See ``SluiceClient.async_httpx_transport``."""
    return _standard.standard_client().async_httpx_transport(inner)


def flush(timeout: float = 5.0) -> bool:
    """See ``SluiceClient.flush``."""
    return _standard.standard_client().flush(timeout)


def shutdown(timeout: float = 5.0) -> None:
    """See ``SluiceClient.shutdown``."""
    _standard.standard_client().shutdown(timeout)


def stats() -> Stats:
    """See ``SluiceClient.stats``."""
    return _standard.standard_client().stats()
