"""A client that records the calls of one project."""

from __future__ import annotations

import os
from typing import Any, Callable, ContextManager, Dict, Mapping, Sequence, TypeVar

import httpx

from ._attempt import Recording
from ._budget import ByteBudget
from ._by_hand import RecordsByHand
from ._gateway import Gateway, speaks_chat_completions
from ._labels import label_fields
from ._options import settle
from ._post import Poster
from ._record import changed_record, record_json
from ._session import current_session, in_session
from ._shipper import Shipper
from ._span import Tracing
from ._spool import Spool
from ._tools import is_mcp_client, wrap_mcp_client
from ._trace import trace_decorator
from ._transport import recording_transport
from ._types import DROP_REASONS, BeforeSend, Session, Stats
from ._warn import create_warn
from ._words import message_of
from ._wrap import call_through, wrap_provider

T = TypeVar("T")


class SluiceClient(RecordsByHand):
    """Records the calls of one project. A program uses one by ``configure``, or makes several.

    Nothing that it does raises into the application, but for an invalid address passed to it.
    """

    def __init__(
        self,
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
    ) -> None:
        """``api_key``: the project's key, or SERVICE_API_KEY. ``base_url``: the API's address, or
        SERVICE_BASE_URL. ``proxy_url``: the gateway's address, or SERVICE_PROXY_URL: clients that speak chat
        completions call through it, with ``proxy_api_key``, PROXY_API_KEY or the project's key.
        ``agent_name`` to ``metadata``: labels unless ``session`` sets others.
        ``before_send`` sees each record first and returns it, changed or not, or None to drop it.
        ``max_queue_bytes`` (16 MiB): records that wait; beyond it the oldest are dropped and counted.
        ``max_body_bytes`` (at most 4 MiB): kept of each body. ``spool_dir``, or SERVICE_SPOOL_DIR: a folder
        that keeps records until the API has decided on them, at most ``max_spool_bytes`` (64 MiB) of each
        process; the next program with the same key sends what an ended one has left.
        """
        labels = Session(session_id, agent_name, agent_tag, user_id, metadata)
        self._settings = settle(
            api_key=api_key,
            base_url=base_url,
            proxy_url=proxy_url,
            proxy_api_key=proxy_api_key,
            session=labels,
            before_send=before_send,
            max_queue_bytes=max_queue_bytes,
            max_body_bytes=max_body_bytes,
            spool_dir=spool_dir,
            max_spool_bytes=max_spool_bytes,
            environment=os.environ,
        )
        self._warn = create_warn()
        self._gateway: Gateway | None = None
        if self._settings.proxy_url is not None:
            self._gateway = self._create_gateway(self._settings.proxy_url, self._settings.proxy_api_key)
        self._shipper: Shipper | None = None
        self._recording: Recording | None = None
        self._tracing: Tracing | None = None
        if self._settings.api_key is None:
            self._warn("key", f"nothing is recorded: {self._settings.fault}")
            return
        budget = ByteBudget(self._settings.max_queue_bytes)
        spool = self._create_spool(self._settings.api_key)
        shipper = Shipper(Poster(self._settings.base_url, self._settings.api_key), budget, self._warn, spool)
        self._shipper = shipper
        limit = self._settings.max_body_bytes

        self._recording = Recording(
            budget, limit, self._labels, self._ship, shipper.build, self.lose, self._warn
        )
        self._tracing = Tracing(
            session=self._settings.session,
            max_body_bytes=limit,
            labels=lambda session, model: label_fields(session, self._warn, model),
            record=self._ship,
            build=shipper.build,
            lost=self.lose,
        )

    def wrap(self, client: T) -> T:
        """Records all further calls of a provider's client, and returns the same client: openai,
        anthropic, google-genai, mistralai, cohere, boto3's ``bedrock-runtime``, an httpx client, or a
        session of ``mcp``. An unknown client is returned unchanged, with a warning. Wrapping twice has
        no further effect.
        """
        try:
            if getattr(client, "_sluice_wrapped", False) is True:
                return client
            is_known = self._wrap(client)
            if is_known is None:
                return client
            if not is_known:
                self._warn(
                    f"unknown {type(client).__name__}",
                    f"{type(client).__name__} is not a known client or version: it works as before, "
                    "but its calls are not recorded",
                )
                return client
            client._sluice_wrapped = True  # type: ignore[attr-defined]
        except Exception as error:  # noqa: BLE001 -- a client that may not be changed
            self._warn("wrap", f"a client could not be wrapped; it works as before: {message_of(error)}")
        return client

    def _wrap(self, client: Any) -> bool | None:
        """Whether the client is a known one; None while it is not to be wrapped."""
        if self._settings.proxy_url is not None and speaks_chat_completions(client):
            if self._gateway is None:
                return None
            return call_through(client, self._gateway, lambda: self._recording)
        if self._recording is None:
            return None
        if is_mcp_client(client):
            wrap_mcp_client(client, self.record_tool_call)
            return True
        return wrap_provider(client, lambda: self._recording, self._warn)

    def _create_gateway(self, url: str, key: str | None) -> Gateway | None:
        if key is None:
            self._warn(
                "proxy key",
                "calls do not use the gateway: pass proxy_api_key to configure() or set PROXY_API_KEY",
            )
            return None
        return Gateway(url, key, self._labels, self._warn)

    def _create_spool(self, key: str) -> Spool | None:
        folder = self._settings.spool_dir
        return None if folder is None else Spool(folder, key, self._settings.max_spool_bytes, self._warn)

    def _labels(self) -> Dict[str, Any]:
        return label_fields(self.current_session(), self._warn)

    def trace(
        self,
        traced: Callable[..., Any] | None = None,
        *,
        name: str | None = None,
        model: str | None = None,
        session_id: str | None = None,
        agent_name: str | None = None,
        agent_tag: str | None = None,
        user_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Any:
        """A decorator, with or without options: records each call of a function, a coroutine function or a
        generator. Calls inside share its session; without one, a session starts.
        """
        inner = Session(session_id, agent_name, agent_tag, user_id, metadata)
        return trace_decorator(traced, name, model, inner, self.tracing)

    def current_session(self) -> Session:
        """The labels that a call made here is recorded under."""
        return current_session(self._settings.session)

    def session(
        self,
        session_id: str | None = None,
        *,
        agent_name: str | None = None,
        agent_tag: str | None = None,
        user_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        context: Sequence[int | str] | None = None,
    ) -> ContextManager[Session]:
        """``with session("ticket-4711"):`` records the calls of the block under these labels, in its tasks
        too. ``context``: where their requests hold retrieved text.
        """
        return in_session(Session(session_id, agent_name, agent_tag, user_id, metadata, context))

    def httpx_transport(self, inner: httpx.BaseTransport | None = None) -> httpx.BaseTransport:
        """A transport for ``httpx.Client(transport=…)`` that records model calls, whatever client makes
        them.
        """
        made: httpx.BaseTransport = recording_transport(
            inner or httpx.HTTPTransport(), lambda: self._recording
        )
        return made

    def async_httpx_transport(
        self, inner: httpx.AsyncBaseTransport | None = None
    ) -> httpx.AsyncBaseTransport:
        """The same for ``httpx.AsyncClient``."""
        made: httpx.AsyncBaseTransport = recording_transport(
            inner or httpx.AsyncHTTPTransport(), lambda: self._recording
        )
        return made

    def flush(self, timeout: float = 5.0) -> bool:
        """Waits until everything recorded is sent: True, or False after ``timeout`` seconds. It blocks:
        asynchronous programs call ``await asyncio.to_thread(flush)``.
        """
        return True if self._shipper is None else self._shipper.flush(timeout)

    def shutdown(self, timeout: float = 5.0) -> None:
        """Flushes and stops. Later records are dropped and counted."""
        if self._shipper is not None:
            self._shipper.close(timeout)

    def stats(self) -> Stats:
        """Counts of records, and what is waiting now."""
        return (
            Stats(0, 0, 0, dict.fromkeys(DROP_REASONS, 0)) if self._shipper is None else self._shipper.stats()
        )

    def tracing(self) -> Tracing | None:
        """What traced functions record with; None while nothing is recorded."""
        return self._tracing

    def lose(self, error: BaseException) -> None:
        """Counts a call that could not be recorded."""
        if self._shipper is not None:
            self._shipper.drop("capture_failed", 1, message_of(error))

    def _ship(self, fields: Dict[str, Any], request: str, response: str | None) -> None:
        """In the background."""
        shipper, change = self._shipper, self._settings.before_send
        if shipper is None:
            return
        text = record_json(fields, request, response)
        if change is not None:
            try:
                changed = changed_record(text, change)
                if changed is None:
                    return
                text = changed
            except Exception as error:  # noqa: BLE001 -- the program's own function
                shipper.drop("before_send", 1, f"before_send failed: {message_of(error)}")
                return
        shipper.add(text)
