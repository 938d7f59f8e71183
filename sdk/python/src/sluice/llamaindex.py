"""Handlers for LlamaIndex's dispatcher, for models whose client cannot be wrapped."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Dict, List

from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.exception import ExceptionEvent
from llama_index.core.instrumentation.events.llm import (
    LLMChatEndEvent,
    LLMChatInProgressEvent,
    LLMChatStartEvent,
    LLMCompletionEndEvent,
    LLMCompletionInProgressEvent,
    LLMCompletionStartEvent,
)
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from pydantic import PrivateAttr

from ._client import SluiceClient
from ._json import JsonObject, field_at, list_of, object_of, text_of, to_json
from ._plain import json_value
from ._standard import standard_client
from ._types import Session
from ._words import message_of

#: Spans under way. The end of one that was cancelled may not be told.
_MAX_SPANS = 10_000
_UUID_LENGTH = 36


def instrument(client: SluiceClient | None = None) -> Callable[[], None]:
    """Records model calls and agents' tool calls of LlamaIndex from now on; the result ends it. Calls of one
    outermost run share a session. Do not also wrap the model's client: both would record the call.
    ``client``: the one of ``configure``, if none is given.
    """
    dispatcher = get_dispatcher()
    calls = _Calls(lambda: client or standard_client())
    events, spans = _Events(calls), _Spans(calls)
    dispatcher.add_event_handler(events)
    dispatcher.add_span_handler(spans)

    def end() -> None:
        dispatcher.event_handlers.remove(events)
        dispatcher.span_handlers.remove(spans)

    return end


class _Span:
    """``inside_call``: within the call of a model, which may ask another of its methods."""

    def __init__(self, span_id: str, root: str, inside_call: bool, model: Any) -> None:
        # An identifier is a method's name and a UUID.
        self.method = span_id[: -_UUID_LENGTH - 1]
        self.root, self.inside_call = root, inside_call
        self.place = (id(model), threading.get_ident())
        self.start = time.perf_counter()
        self.call: JsonObject | None = None
        self.asked: JsonObject | None = None
        self.session = Session()
        self.first_token_ms: float | None = None

    def elapsed_ms(self) -> float:
        return (time.perf_counter() - self.start) * 1000


class _Calls:
    """What the two handlers know together: calls by their span."""

    def __init__(self, client: Callable[[], SluiceClient]) -> None:
        self._client = client
        self._spans: Dict[str, _Span] = {}
        self._lock = threading.RLock()

    def enter(self, span_id: str, parent_id: str | None, model: Any) -> None:
        with self._lock:
            parent = None if parent_id is None else self._spans.get(parent_id)
            if len(self._spans) >= _MAX_SPANS:
                self._spans.pop(next(iter(self._spans)))
            root = (parent_id or span_id) if parent is None else parent.root
            inside = parent is not None and (parent.inside_call or parent.call is not None)
            self._spans[span_id] = _Span(span_id, root, inside, model)

    def leave(self, span_id: str, result: Any, error: BaseException | None) -> None:
        with self._lock:
            span = self._spans.get(span_id)
            # A stream ends after the span of the method that returned it.
            if span is None or (span.call is not None and error is None):
                return
            self._spans.pop(span_id)
        if error is not None and span.call is not None:
            self._record(span, None, error)
        elif isinstance(result, ToolCallResult):
            self._record_tool(span, result)

    def begin(self, span_id: str | None, model: JsonObject, asked: JsonObject) -> None:
        with self._lock:
            span = None if span_id is None else self._spans.get(span_id)
            if span is None or span.inside_call or self._is_taken(span, asked):
                return
            named = text_of(model.get("model")) or text_of(model.get("model_name"))
            named = None if named == "unknown" else named
            span.call, span.asked = {**({"model": named} if named else {}), **asked}, asked
            span.session = self._session(span)
            span.start = time.perf_counter()

    def _is_taken(self, span: _Span, asked: JsonObject) -> bool:
        """Whether an asynchronous stream is made of this one, as ``CustomLLM`` makes it when it is read."""
        around = span.method.replace(".stream_", ".astream_")
        for other in self._spans.values():
            is_same = other.place == span.place and other.asked == asked and other.first_token_ms is None
            if around != span.method and other.method == around and is_same:
                span.inside_call = True
        return span.inside_call

    def progress(self, span_id: str | None) -> None:
        span = self._spans.get(span_id or "")
        if span is not None and span.first_token_ms is None:
            span.first_token_ms = span.elapsed_ms()

    def end(self, span_id: str | None, answer: Callable[[JsonObject], JsonObject | None]) -> None:
        span = self._take(span_id)
        if span is not None and span.call is not None:
            self._record(span, answer(span.call), None)

    def fail(self, span_id: str | None, error: BaseException) -> None:
        span = self._take(span_id)
        if span is not None:
            self._record(span, None, error)

    def lose(self, error: BaseException) -> None:
        self._client().lose(error)

    def _take(self, span_id: str | None) -> _Span | None:
        with self._lock:
            span = self._spans.get(span_id or "")
            return None if span is None or span.call is None else self._spans.pop(span_id or "")

    def _session(self, span: _Span) -> Session:
        around = self._client().current_session()
        if around.session_id is not None:
            return around
        return Session(session_id=f"ses_{span.root[-_UUID_LENGTH:]}").over(around)

    def _record(self, span: _Span, answer: JsonObject | None, error: BaseException | None) -> None:
        self._client().record_call(
            span.call or {},
            answer,
            error=None if error is None else message_of(error),
            latency_ms=span.elapsed_ms(),
            time_to_first_token_ms=span.first_token_ms,
            session=span.session,
        )

    def _record_tool(self, span: _Span, result: ToolCallResult) -> None:
        output = result.tool_output
        outcome: Any = {"error": output.content} if output.is_error else {"result": output.raw_output}
        self._client().record_tool_call(
            result.tool_name,
            result.tool_kwargs,
            **outcome,
            latency_ms=span.elapsed_ms(),
            session=self._session(span),
        )


class _Events(BaseEventHandler):
    _calls: Any = PrivateAttr()

    def __init__(self, calls: _Calls) -> None:
        super().__init__()
        self._calls = calls

    def handle(self, event: Any, **kwargs: Any) -> None:
        """Never raises: what fails is counted as lost."""
        try:
            self._handle(event)
        except Exception as error:  # noqa: BLE001
            self._calls.lose(error)

    def _handle(self, event: Any) -> None:
        calls: _Calls = self._calls
        if isinstance(event, LLMChatStartEvent):
            asked: JsonObject = {"messages": [_message_body(message) for message in event.messages]}
            tools = json_value(event.additional_kwargs.get("tools"))
            calls.begin(event.span_id, event.model_dict, {**asked, "tools": tools} if tools else asked)
        elif isinstance(event, LLMCompletionStartEvent):
            calls.begin(event.span_id, event.model_dict, {"prompt": event.prompt})
        elif isinstance(event, (LLMChatInProgressEvent, LLMCompletionInProgressEvent)):
            calls.progress(event.span_id)
        elif isinstance(event, (LLMChatEndEvent, LLMCompletionEndEvent)):
            calls.end(event.span_id, lambda asked: _answer_body(asked, event.response))
        elif isinstance(event, ExceptionEvent):
            calls.fail(event.span_id, event.exception)


class _Spans(BaseSpanHandler[Any]):
    _calls: Any = PrivateAttr()

    def __init__(self, calls: _Calls) -> None:
        super().__init__()
        self._calls = calls

    def span_enter(
        self,
        id_: str,
        bound_args: Any,
        instance: Any = None,
        parent_id: str | None = None,
        tags: Any = None,
        **kwargs: Any,
    ) -> None:
        """Remembers what is around a call."""
        self._calls.enter(id_, parent_id, instance)

    def span_exit(
        self, id_: str, bound_args: Any, instance: Any = None, result: Any = None, **kwargs: Any
    ) -> None:
        """Records the tool call that a step of an agent made."""
        try:
            self._calls.leave(id_, result, None)
        except Exception as error:  # noqa: BLE001 -- counted as lost
            self._calls.lose(error)

    def span_drop(
        self, id_: str, bound_args: Any, instance: Any = None, err: BaseException | None = None, **kwargs: Any
    ) -> None:
        """Records the call that failed."""
        try:
            self._calls.leave(id_, None, err or RuntimeError("dropped"))
        except Exception as error:  # noqa: BLE001 -- counted as lost
            self._calls.lose(error)

    def new_span(self, *args: Any, **kwargs: Any) -> None:
        """None is kept by LlamaIndex."""

    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> None:
        """None is kept by LlamaIndex."""

    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> None:
        """None is kept by LlamaIndex."""


def _message_body(message: ChatMessage) -> JsonObject:
    """As chat completions write it, which scorers read."""
    parts: List[Any] = []
    calls: List[Any] = []
    body: JsonObject = {"role": str(message.role.value), "content": None}
    block: Any
    for block in message.blocks:
        kind = block.block_type
        if kind == "text":
            parts.append({"type": "text", "text": block.text})
        elif kind == "thinking":
            body["reasoning_content"] = block.content
        elif kind == "tool_call":
            given = block.tool_kwargs
            text = given if isinstance(given, str) else to_json(json_value(given))
            called = {"name": block.tool_name, "arguments": text}
            calls.append({"id": block.tool_call_id, "type": "function", "function": called})
        elif kind == "image" and block.url is not None:
            parts.append({"type": "image_url", "image_url": {"url": str(block.url)}})
        else:
            parts.append(json_value(block.model_dump(mode="json")))
    if parts:
        is_text = all(part.get("type") == "text" for part in parts)
        body["content"] = "\n".join(part["text"] for part in parts) if is_text else parts
    calls = calls or json_value(message.additional_kwargs.get("tool_calls")) or []
    answered = message.additional_kwargs.get("tool_call_id")
    return {
        **body,
        **({"tool_calls": calls} if calls else {}),
        **({"tool_call_id": answered} if answered else {}),
    }


def _answer_body(asked: JsonObject, response: Any) -> JsonObject | None:
    """As chat completions or completions answer. None: a stream was not read."""
    if response is None:
        return None
    raw = object_of(json_value(getattr(response, "raw", None)))
    reasons = [field_at(choice, "finish_reason") for choice in list_of(field_at(raw, "choices"))]
    is_text = "prompt" in asked
    said = {"text": response.text} if is_text else {"message": _message_body(response.message)}
    body: JsonObject = {
        "object": "text_completion" if is_text else "chat.completion",
        "choices": [{"index": 0, "finish_reason": reasons[0] if reasons else None, **said}],
    }
    for name in ("model", "usage", "usageMetadata"):
        found = field_at(raw, name)
        if found is not None:
            body[name] = found
    return {"model": asked["model"], **body} if "model" in asked else body
