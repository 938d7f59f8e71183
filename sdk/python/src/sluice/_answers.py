"""What an answer says of its call: its error, and for a truncated one its token counts."""

from __future__ import annotations

from typing import Any, Dict

from ._json import count_of, field_at, list_of, object_of, text_of
from ._words import storable_text


def error_of_answer(body: Any, status: int | None) -> str | None:
    """The error message of an answer; None without one."""
    said = text_of(field_at(body, "error", "message")) or text_of(field_at(body, "error"))
    # Successful answers may have members of these names.
    if said is None and status is not None and status >= 400:
        said = _said_in_failure(body)
    return None if said is None else storable_text(said)


def _said_in_failure(body: Any) -> str | None:
    """Errors of Cohere, Mistral and Bedrock, and of FastAPI servers (vLLM), which list what is wrong."""
    message = field_at(body, "message")
    detail = field_at(body, "detail")
    detail = field_at(message, "detail") if detail is None else detail
    first = list_of(detail)[0] if list_of(detail) else None
    return text_of(message) or text_of(detail) or text_of(field_at(first, "msg"))


def tokens_of(body: Any) -> Dict[str, int]:
    """Token counts in disjoint buckets, for an answer whose record lacks them; ingest reads those of
    others.
    """
    usage = object_of(field_at(body, "usage"))
    google = object_of(field_at(body, "usageMetadata"))
    if google is not None:
        found = _google_tokens(google)
    elif usage is None:
        found = {}
    elif "cache_read_input_tokens" in usage or "cache_creation_input_tokens" in usage:
        found = _anthropic_tokens(usage)
    else:
        found = _openai_tokens(usage)
    return {name: count for name, count in found.items() if count is not None}


def _openai_tokens(usage: Dict[str, Any]) -> Dict[str, int | None]:
    prompt = _first(usage, "prompt_tokens", "input_tokens", "inputTokens")
    completion = _first(usage, "completion_tokens", "output_tokens", "outputTokens")
    asked = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    said = usage.get("completion_tokens_details") or usage.get("output_tokens_details")
    cached = count_of(field_at(asked, "cached_tokens"))
    reasoning = count_of(field_at(said, "reasoning_tokens"))
    return {
        "prompt_tokens": _without(prompt, cached),
        "cached_tokens": cached,
        "completion_tokens": _without(completion, reasoning),
        "reasoning_tokens": reasoning,
    }


def _anthropic_tokens(usage: Dict[str, Any]) -> Dict[str, int | None]:
    """Anthropic counts cache reads and writes beside the input."""
    written = count_of(usage.get("cache_creation_input_tokens"))
    prompt = count_of(usage.get("input_tokens"))
    return {
        "prompt_tokens": None if prompt is None else prompt + (written or 0),
        "cached_tokens": count_of(usage.get("cache_read_input_tokens")),
        "cache_write_tokens": written or None,
        "completion_tokens": count_of(usage.get("output_tokens")),
    }


def _google_tokens(usage: Dict[str, Any]) -> Dict[str, int | None]:
    cached = count_of(usage.get("cachedContentTokenCount"))
    return {
        "prompt_tokens": _without(count_of(usage.get("promptTokenCount")), cached),
        "cached_tokens": cached,
        "completion_tokens": count_of(usage.get("candidatesTokenCount")),
        "reasoning_tokens": count_of(usage.get("thoughtsTokenCount")),
    }


def _first(usage: Dict[str, Any], *names: str) -> int | None:
    return next((count for count in (count_of(usage.get(name)) for name in names) if count is not None), None)


def _without(whole: int | None, part: int | None) -> int | None:
    """Some hosts count a part beside its whole: then it is larger."""
    return whole if whole is None or part is None or part > whole else whole - part
