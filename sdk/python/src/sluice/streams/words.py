"""Whether a chunk contains generated content: the first events often only announce the stream."""

from __future__ import annotations

from typing import Any

from .._json import JsonObject

#: Members with generated text, in any format.
_TEXT = frozenset(
    "content text delta refusal answer response transcript partial_json arguments thinking reasoning "
    "reasoning_content reasoning_text summary_text data tool_plan".split()
)
#: Members whose whole content is generated, as arguments may have any name.
_WHOLE = frozenset("toolUse functionCall function_call tool_calls executableCode partial_image_b64".split())
#: Anthropic's calls, hosted and MCP tools too. A call without arguments has only a name.
_CALL_TYPES = ("tool_use", "server_tool_use", "mcp_tool_use")
#: Members that repeat the request in the first events.
_ASKED = frozenset("instructions input inputs query prompt tools tool_choice metadata usage".split())
#: Texts of responses are five levels deep, tool calls of chat completions seven.
_MAX_DEPTH = 10


def holds_words(chunk: JsonObject) -> bool:
    """Whether any member of a chunk is generated."""
    return _is_generated(chunk, False, False, 0)


def _is_generated(value: Any, is_said: bool, is_detail: bool, depth: int) -> bool:
    """``is_detail``: within OpenRouter's reasoning details, which have summaries; elsewhere they are a
    setting.
    """
    if isinstance(value, str):
        return value != "" and is_said
    if depth >= _MAX_DEPTH:
        return False
    if isinstance(value, list):
        return any(_is_generated(entry, is_said, is_detail, depth + 1) for entry in value)
    if not isinstance(value, dict):
        return False
    if value.get("type") in _CALL_TYPES and isinstance(value.get("name"), str) and value["name"] != "":
        return True
    return any(
        _is_generated(inner, _says(name, is_detail), name == "reasoning_details", depth + 1)
        if name not in _WHOLE
        else _any_text(inner, depth + 1)
        for name, inner in value.items()
        if name not in _ASKED
    )


def _says(name: str, is_detail: bool) -> bool:
    return name in _TEXT or (is_detail and name == "summary")


def _any_text(value: Any, depth: int) -> bool:
    if isinstance(value, str):
        return value != ""
    if depth >= _MAX_DEPTH:
        return False
    if isinstance(value, list):
        return any(_any_text(entry, depth + 1) for entry in value)
    if isinstance(value, dict):
        return any(_any_text(inner, depth + 1) for name, inner in value.items() if name not in _ASKED)
    return False
