"""Verdicts of Azure's content filter, of which an asynchronous filter sends one for each section of an
answer.
"""

from __future__ import annotations

from typing import Any, List

from .._json import to_json

VERDICT_NAMES = frozenset(
    ["content_filter_results", "content_filter_result", "prompt_filter_results", "prompt_annotations"]
)
_SEVERITIES: List[Any] = ["safe", "low", "medium", "high"]
_MAX_DEPTH = 6
#: Each new entry is compared with all others, in every chunk.
_MAX_ENTRIES = 64


def worse_verdict(known: Any, later: Any, depth: int = 0) -> Any:
    """``filtered`` and ``detected`` stay true, and the worst severity counts."""
    if later is None or depth >= _MAX_DEPTH:
        return later if known is None else known
    if isinstance(known, list) and isinstance(later, list):
        return _merged_lists(known, later, depth)
    if isinstance(known, dict) and isinstance(later, dict):
        for name, value in later.items():
            known[name] = worse_verdict(known.get(name), value, depth + 1)
        return known
    if isinstance(known, bool) and isinstance(later, bool):
        return known or later
    if isinstance(known, str) and known in _SEVERITIES and isinstance(later, str) and later in _SEVERITIES:
        return known if _SEVERITIES.index(known) > _SEVERITIES.index(later) else later
    return later


def _merged_lists(known: List[Any], later: List[Any], depth: int) -> List[Any]:
    """Merges verdicts of the same prompt or block list; keeps others apart."""
    merged = list(known)
    for entry in later:
        keys = [_key_of(one) for one in merged]
        key = _key_of(entry)
        if key in keys:
            at = keys.index(key)
            merged[at] = worse_verdict(merged[at], entry, depth + 1)
        elif len(merged) < _MAX_ENTRIES:
            merged.append(entry)
    return merged


def _key_of(entry: Any) -> Any:
    named = None
    if isinstance(entry, dict):
        named = entry.get("prompt_index")
        named = entry.get("id") if named is None else named
    return to_json(entry) if named is None else named
