"""A callback handler for LangChain, for models whose client cannot be wrapped."""

from __future__ import annotations

import threading
import time
from typing import Any, Dict, List, Sequence
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from ._client import SluiceClient
from ._json import JsonObject, list_of, to_json
from ._plain import json_value, plain_value
from ._standard import standard_client
from ._types import Session
from ._words import message_of

#: Runs under way. A handler may not be told of the end of a run that was cancelled.
_MAX_RUNS = 10_000
_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


class _Run:
    def __init__(self, session: Session, request: JsonObject, model: str | None, name: str) -> None:
        self.session, self.request, self.model, self.name = session, request, model, name
        self.start = time.perf_counter()
        self.first_token_ms: float | None = None

    def elapsed_ms(self) -> float:
        return (time.perf_counter() - self.start) * 1000


class SluiceCallbackHandler(BaseCallbackHandler):
    """Records model and tool calls of chains and agents: ``config={"callbacks":
    [SluiceCallbackHandler()]}``. Calls of one outermost run share a session. Do not also wrap the
    model's client: both would record the call.
    """

    def __init__(self, client: SluiceClient | None = None) -> None:
        """``client``: the one of ``configure``, if none is given."""
        self._given = client
        self._runs: Dict[UUID, _Run] = {}
        self._roots: Dict[UUID, UUID] = {}
        self._lock = threading.RLock()

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Remembers the outermost run."""
        self._root_of(run_id, parent_run_id)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Forgets the run."""
        with self._lock:
            self._roots.pop(run_id, None)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forgets the run."""
        with self._lock:
            self._roots.pop(run_id, None)

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: List[List[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """A chat model is called."""
        said = [_message_body(message) for batch in messages for message in batch]
        self._begin(run_id, parent_run_id, {"messages": said}, kwargs)

    def on_llm_start(
        self,
        serialized: Any,
        prompts: List[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """A model of texts is called."""
        self._begin(run_id, parent_run_id, {"prompt": prompts[0] if len(prompts) == 1 else prompts}, kwargs)

    def on_llm_new_token(self, token: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """The time of the first one is recorded."""
        run = self._runs.get(run_id)
        if run is not None and run.first_token_ms is None:
            run.first_token_ms = run.elapsed_ms()

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """The model has answered."""
        run = self._take(run_id)
        if run is None:
            return
        client = self._client()
        try:
            body = _answer_body(response, run.model, "prompt" in run.request)
            client.record_call(
                run.request,
                body,
                latency_ms=run.elapsed_ms(),
                time_to_first_token_ms=run.first_token_ms,
                session=run.session,
            )
        except Exception as error:  # noqa: BLE001 -- counted as lost
            client.lose(error)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """The model has failed."""
        run = self._take(run_id)
        if run is not None:
            self._client().record_call(
                run.request, error=message_of(error), latency_ms=run.elapsed_ms(), session=run.session
            )

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: Dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A tool is called."""
        name = kwargs.get("name") or (serialized or {}).get("name") or "unknown"
        given = {"arguments": input_str if inputs is None else plain_value(inputs)}
        self._begin(run_id, parent_run_id, given, {}, str(name))

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """The tool has answered."""
        run = self._take(run_id)
        if run is not None:
            result = output.content if isinstance(output, BaseMessage) else output
            self._client().record_tool_call(
                run.name, run.request["arguments"], result, latency_ms=run.elapsed_ms(), session=run.session
            )

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """The tool has failed."""
        run = self._take(run_id)
        if run is not None:
            self._client().record_tool_call(
                run.name,
                run.request["arguments"],
                error=error,
                latency_ms=run.elapsed_ms(),
                session=run.session,
            )

    def _client(self) -> SluiceClient:
        return self._given or standard_client()

    def _begin(
        self, run_id: UUID, parent: UUID | None, request: JsonObject, options: Dict[str, Any], name: str = ""
    ) -> None:
        asked = options.get("invocation_params") or {}
        found = (
            asked.get("model")
            or asked.get("model_name")
            or (options.get("metadata") or {}).get("ls_model_name")
        )
        model = found if isinstance(found, str) else None
        body = request if model is None else {"model": model, **request}
        tools = list_of(asked.get("tools"))
        if tools:
            body = {**body, "tools": json_value(tools)}
        root = self._root_of(run_id, parent)
        around = self._client().current_session()
        session = around if around.session_id is not None else Session(session_id=f"ses_{root}").over(around)
        with self._lock:
            if len(self._runs) >= _MAX_RUNS:
                self._runs.pop(next(iter(self._runs)))
            self._runs[run_id] = _Run(session, body, model, name)

    def _take(self, run_id: UUID) -> _Run | None:
        with self._lock:
            self._roots.pop(run_id, None)
            return self._runs.pop(run_id, None)

    def _root_of(self, run_id: UUID, parent: UUID | None) -> UUID:
        with self._lock:
            root = run_id if parent is None else self._roots.get(parent, parent)
            if len(self._roots) >= _MAX_RUNS:
                self._roots.pop(next(iter(self._roots)))
            self._roots[run_id] = root
            return root


def _message_body(message: BaseMessage) -> JsonObject:
    """As chat completions write it, which scorers read."""
    role = _ROLES.get(message.type, message.type)
    body: JsonObject = {"role": role, "content": json_value(message.content)}
    calls: Sequence[Any] = getattr(message, "tool_calls", None) or []
    if calls:
        body["tool_calls"] = [
            {
                "id": call.get("id"),
                "type": "function",
                "function": {"name": call.get("name"), "arguments": to_json(json_value(call.get("args")))},
            }
            for call in calls
        ]
    answered = getattr(message, "tool_call_id", None)
    return body if answered is None else {**body, "tool_call_id": answered}


def _answer_body(response: LLMResult, model: str | None, is_text: bool) -> JsonObject:
    """As chat completions or completions answer."""
    choices: List[JsonObject] = []
    usage: Any = None
    for index, generation in enumerate(one for batch in response.generations for one in batch):
        info = generation.generation_info or {}
        message = getattr(generation, "message", None)
        reason = {"index": index, "finish_reason": info.get("finish_reason")}
        usage = usage or getattr(message, "usage_metadata", None)
        said = {"text": generation.text} if message is None else {"message": _message_body(message)}
        choices.append({**reason, **said})
    body: JsonObject = {"object": "text_completion" if is_text else "chat.completion", "choices": choices}
    if model is not None:
        body["model"] = model
    return body if usage is None else {**body, "usage": _usage_body(usage)}


def _usage_body(usage: Dict[str, Any]) -> JsonObject:
    """LangChain counts cached and reasoning tokens within input and output, as OpenAI does."""
    asked, said = usage.get("input_token_details") or {}, usage.get("output_token_details") or {}
    return {
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        "total_tokens": usage.get("total_tokens"),
        "prompt_tokens_details": {"cached_tokens": asked.get("cache_read", 0)},
        "completion_tokens_details": {"reasoning_tokens": said.get("reasoning", 0)},
    }
