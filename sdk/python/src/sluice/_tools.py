"""Records of tool calls."""

from __future__ import annotations

import functools
import inspect
import math
import time
from typing import Any, Callable, Dict

from ._ids import new_request_id
from ._json import JsonObject, field_at, list_of, object_of, text_of
from ._plain import take_snapshot
from ._words import message_of

#: A larger value is a time rather than a duration, and the tables may have no partition for its day.
_MAX_LATENCY_MS = 7 * 86_400_000
_UNEXPLAINED = "the tool says that it failed"
MISSING: Any = object()


def tool_call_parts(
    tool_name: str, arguments: Any, result: Any, error: BaseException | str | None, latency_ms: float | None
) -> tuple[Dict[str, Any], JsonObject, JsonObject | None]:
    """Fields, request and response of a finished tool call's record."""
    taken = take_snapshot(arguments)
    plain = {} if taken.value is None else taken.value
    # The API accepts only objects as arguments.
    given = plain if isinstance(plain, dict) else {"value": plain}
    request = {"type": "mcp_tool_call", "tool_name": tool_name, "arguments": given, **taken.mark()}
    took = _duration_of(latency_ms)
    fields: Dict[str, Any] = {"id": new_request_id(int(time.time() * 1000 - (took or 0))), "source": "mcp"}
    if took is not None:
        fields["latency_ms"] = took
    if error is not None:
        fields["error"] = message_of(error)
    return fields, request, None if result is MISSING else _result_body(result)


def _result_body(result: Any) -> JsonObject:
    taken = take_snapshot(result)
    return {**(object_of(taken.value) or {"result": taken.value}), **taken.mark()}


def _duration_of(given: Any) -> float | None:
    """None if implausible. Negative after a clock change: 0."""
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool) and math.isfinite(given)
    return max(0, given) if is_number and given <= _MAX_LATENCY_MS else None


def fault_of_tool(result: Any) -> str | None:
    """The failure message of a tool's result; None if it does not report one. MCP marks it with
    ``isError``.
    """
    is_message = field_at(result, "jsonrpc") is not None
    fault = field_at(result, "error") if is_message else None
    if isinstance(fault, dict):
        return text_of(fault.get("message")) or _UNEXPLAINED
    answer = field_at(result, "result") if is_message else result
    if field_at(answer, "isError") is not True:
        return None
    texts = [text_of(field_at(part, "text")) for part in list_of(field_at(answer, "content"))]
    return next((text for text in texts if text is not None), _UNEXPLAINED)


def is_mcp_client(client: Any) -> bool:
    """A session of the Model Context Protocol, recognised by its methods."""
    return callable(getattr(client, "call_tool", None)) and callable(getattr(client, "list_tools", None))


def wrap_mcp_client(client: Any, record: Callable[..., None]) -> None:
    """Records the arguments and the result or error of ``call_tool``; the session stays the same
    otherwise.
    """
    original = client.call_tool
    if not inspect.iscoroutinefunction(original):
        raise TypeError("call_tool is not a coroutine function")

    @functools.wraps(original)
    async def call_tool(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        name = text_of(kwargs.get("name", args[0] if args else None)) or "unknown"
        given = kwargs.get("arguments", args[1] if len(args) > 1 else None)
        try:
            result = await original(*args, **kwargs)
        except BaseException as error:
            record(name, given, error=error, latency_ms=(time.perf_counter() - start) * 1000)
            raise
        took = (time.perf_counter() - start) * 1000
        plain = _as_sent(result)
        record(name, given, plain, error=fault_of_tool(plain), latency_ms=took)
        return result

    client.call_tool = call_tool


def _as_sent(result: Any) -> Any:
    """As the protocol writes it, ``isError`` and all."""
    try:
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)
    except Exception:  # noqa: BLE001 -- not Pydantic's: recorded by its fields
        return result
