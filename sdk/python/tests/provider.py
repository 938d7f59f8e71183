"""A model provider that speaks OpenAI's, Anthropic's, Google's, Cohere's, Mistral's and Bedrock's
protocols.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import Any, Dict, List, Optional

from servers import Server, send_chunks, send_json

SAID = "Hello there"
_USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


def sse(*chunks: Any) -> List[str]:
    def event(chunk: Any) -> str:
        name = f"event: {chunk['type']}\n" if isinstance(chunk, dict) and "type" in chunk else ""
        return f"{name}data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n"

    return [event(chunk) for chunk in chunks]


def _chat(streamed: bool) -> Any:
    common = {"id": "c1", "created": 1_790_000_000, "model": "model-1"}
    if not streamed:
        message = {"role": "assistant", "content": SAID}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return {**common, "object": "chat.completion", "choices": choices, "usage": _USAGE}

    def chunk(content: str, finish: Optional[str] = None, **more: Any) -> Any:
        choice = {"index": 0, "delta": {"role": "assistant", "content": content}, "finish_reason": finish}
        return {**common, "object": "chat.completion.chunk", "choices": [choice], **more}

    return sse(chunk("Hello"), chunk(" there"), chunk("", "stop", usage=_USAGE), "[DONE]")


def _messages(streamed: bool) -> Any:
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "model-1", "stop_sequence": None}
    counted = {"input_tokens": 3, "output_tokens": 2}
    if not streamed:
        return {
            **message,
            "content": [{"type": "text", "text": SAID}],
            "stop_reason": "end_turn",
            "usage": counted,
        }

    def delta(text: str) -> Any:
        return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}

    start = {**message, "content": [], "stop_reason": None, "usage": counted}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    return sse(
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        delta("Hello"),
        delta(" there"),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    )


def _responses(streamed: bool) -> Any:
    item = {"id": "i1", "type": "message", "role": "assistant", "status": "completed"}
    part = {"type": "output_text", "text": SAID, "annotations": []}
    base = {"id": "r1", "object": "response", "model": "model-1", "created_at": 1_790_000_000}
    base.update({"parallel_tool_calls": True, "tool_choice": "auto", "tools": []})
    counted = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    whole = {**base, "status": "completed", "output": [{**item, "content": [part]}], "usage": counted}
    if not streamed:
        return whole
    at = {"output_index": 0, "content_index": 0, "item_id": "i1", "logprobs": []}
    events: List[Dict[str, Any]] = [
        {"type": "response.created", "response": {**base, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
        {"type": "response.output_text.delta", **at, "delta": "Hello"},
        {"type": "response.output_text.delta", **at, "delta": " there"},
        {"type": "response.completed", "response": whole},
    ]
    return sse(*[{**event, "sequence_number": at} for at, event in enumerate(events)])


def _candidates(streamed: bool) -> Any:
    def part(text: str, **more: str) -> Any:
        content = {"role": "model", "parts": [{"text": text}]}
        counted = {"promptTokenCount": 3, "candidatesTokenCount": 2}
        return {
            "candidates": [{"content": content, "index": 0, **more}],
            "modelVersion": "model-1",
            "usageMetadata": counted,
        }

    return (
        sse(part("Hello"), part(" there", finishReason="STOP"))
        if streamed
        else part(SAID, finishReason="STOP")
    )


def _cohere(streamed: bool) -> Any:
    usage = {"tokens": {"input_tokens": 3, "output_tokens": 2}}
    if not streamed:
        message = {"role": "assistant", "content": [{"type": "text", "text": SAID}]}
        return {"id": "c1", "finish_reason": "COMPLETE", "message": message, "usage": usage}

    def content(kind: str, **fields: str) -> Any:
        return {"type": kind, "index": 0, "delta": {"message": {"content": fields}}}

    return sse(
        {"type": "message-start", "id": "c1", "delta": {"message": {"role": "assistant"}}},
        content("content-start", type="text", text=""),
        content("content-delta", text="Hello"),
        content("content-delta", text=" there"),
        {"type": "content-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": usage}},
    )


def _converse(_streamed: bool) -> Any:
    message = {"role": "assistant", "content": [{"text": SAID}]}
    usage = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}
    return {
        "output": {"message": message},
        "stopReason": "end_turn",
        "usage": usage,
        "metrics": {"latencyMs": 1},
    }


_ANSWERS = {
    "/chat/completions": _chat,
    "/v1/messages": _messages,
    "/responses": _responses,
    ":generateContent": _candidates,
    ":streamGenerateContent": lambda _streamed: _candidates(True),
    "/v2/chat": _cohere,
    "/converse": _converse,
}


class Provider(Server):
    """``faults``: statuses of the next answers, or the number of chunks after which the next stream breaks
    off.
    """

    def __init__(self) -> None:
        self.seen: List[str] = []
        self.targets: List[str] = []
        self.headers: List[Dict[str, str]] = []
        self.faults: List[Any] = []
        self.pause_s = 0.0
        super().__init__(self._answer)

    def _answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        path = handler.path.split("?")[0]
        self.seen.append(path)
        self.targets.append(handler.path)
        self.headers.append({name.lower(): value for name, value in handler.headers.items()})
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, int) and fault >= 100:
            send_json(handler, fault, {"error": {"message": "not now", "type": "x"}}, retry_after="0")
            return
        found = next((make for end, make in _ANSWERS.items() if path.endswith(end)), None)
        given = json.loads(body) if body else {}
        answer = {"data": []} if found is None else found(given.get("stream") is True)
        if isinstance(answer, list):
            send_chunks(handler, "text/event-stream", answer, fault, self.pause_s)
        else:
            send_json(handler, 200, answer)
