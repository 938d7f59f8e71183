"""OpenAI's chat completions and legacy completions, which many hosts speak."""

from __future__ import annotations

from typing import Any, Dict

from .._json import JsonObject, list_of, object_of
from .calls import CallPieces
from .merge import entry_at, in_order, later_counts, merge_delta
from .verdicts import VERDICT_NAMES, worse_verdict


class _Choice:
    def __init__(self, index: Any) -> None:
        self.fields: JsonObject = {"index": 0 if index is None else index}
        self.message: JsonObject = {"role": "assistant", "content": None}
        self.calls = CallPieces()

    def body(self) -> JsonObject:
        calls = self.calls.calls()
        return {**self.fields, "message": {**self.message, "tool_calls": calls} if calls else self.message}


class ChatAssembly:
    """Choices, tool calls by index, refusals, log probabilities, the usage chunk."""

    def __init__(self) -> None:
        self._top: JsonObject = {}
        self._choices: Dict[int, _Choice] = {}

    def add(self, chunk: JsonObject) -> None:
        for name, value in chunk.items():
            if name == "choices":
                for choice in list_of(value):
                    self._add_choice(object_of(choice) or {})
            # Padding that some providers add against traffic analysis.
            elif name != "obfuscation" and (not _is_blank(value) or name not in self._top):
                _set_later(self._top, name, value)

    def _add_choice(self, given: JsonObject) -> None:
        index = given.get("index")
        choice = entry_at(self._choices, index, lambda: _Choice(index))
        said = object_of(given.get("delta"))
        said = said if said is not None else object_of(given.get("message")) or {}
        for piece in list_of(said.get("tool_calls")):
            choice.calls.add(piece)
        merge_delta(choice.message, {name: value for name, value in said.items() if name != "tool_calls"})
        if "logprobs" in given:
            merge_delta(choice.fields, {"logprobs": given["logprobs"]})
        for name, value in given.items():
            if name not in ("delta", "message", "logprobs"):
                _set_later(choice.fields, name, value)

    def body(self) -> JsonObject:
        choices = [choice.body() for choice in in_order(self._choices)]
        return {**self._top, "object": "chat.completion", "choices": choices}

    def is_doubtful(self) -> bool:
        return any(choice.calls.is_doubtful() for choice in self._choices.values())

    def ended(self) -> bool:
        reasons = [choice.fields.get("finish_reason") for choice in self._choices.values()]
        return len(reasons) > 0 and all(isinstance(reason, str) for reason in reasons)


class CompletionAssembly:
    """OpenAI's legacy completions: texts by choice."""

    def __init__(self) -> None:
        self._top: JsonObject = {}
        self._choices: Dict[int, JsonObject] = {}

    def add(self, chunk: JsonObject) -> None:
        for name, value in chunk.items():
            if name == "choices":
                for choice in list_of(value):
                    self._add_choice(object_of(choice) or {})
            elif name == "usage":
                self._top[name] = later_counts(self._top.get(name), value)
            elif value is not None or name not in self._top:
                self._top[name] = value

    def _add_choice(self, given: JsonObject) -> None:
        index = given.get("index")
        new = {"index": 0 if index is None else index, "text": ""}
        choice = entry_at(self._choices, index, lambda: new)
        reason = given.get("finish_reason")
        merge_delta(choice, {name: value for name, value in given.items() if name != "finish_reason"})
        choice["finish_reason"] = choice.get("finish_reason") if reason is None else reason

    def body(self) -> JsonObject:
        return {**self._top, "object": "text_completion", "choices": in_order(self._choices)}

    def is_doubtful(self) -> bool:
        return False

    def ended(self) -> bool:
        reasons = [choice.get("finish_reason") for choice in self._choices.values()]
        return len(reasons) > 0 and all(isinstance(reason, str) for reason in reasons)


def _is_blank(value: Any) -> bool:
    """Azure's asynchronous filter sends its verdicts later, in chunks with empty fields."""
    return (
        value is None
        or value == ""
        or (isinstance(value, (int, float)) and value is not False and value == 0)
    )


def _set_later(fields: JsonObject, name: str, value: Any) -> None:
    """Sets a later value; nothing replaces ``content_filter`` as the reason."""
    if name in ("usage", "x_groq"):
        fields[name] = later_counts(fields.get(name), value)
    elif name in VERDICT_NAMES:
        fields[name] = worse_verdict(fields.get(name), value)
    elif name not in fields:
        fields[name] = value
    elif value is not None and not (name == "finish_reason" and fields[name] == "content_filter"):
        fields[name] = value
