"""The texts of a chunked answer in an unknown format, an aid for readers."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List

from .._json import count_of, parse_json
from .events import END_MARK, parse_server_sent_events

#: Members with generated text. Identifiers and times would be joined into meaningless numbers.
_WORDS = frozenset(
    "content text value delta token response message answer completion output output_text outputText "
    "generated_text generation refusal transcript thinking reasoning reasoning_content arguments "
    "partial_json code".split()
)
#: Chat completions have tool arguments seven levels deep.
_MAX_DEPTH = 10
#: Real formats need choices times kinds times levels; a hostile one has a new path in each chunk.
_MAX_NODES = 1_024
_MAX_FAILURES = 1_000
_EVENT_LINES = re.compile(r"(?:(?:(?:event|id|retry)?:[^\r\n]*)?(?:\r\n|\r|\n)){0,1000}")
_LIST_BEGINNING = re.compile(r"\[[\s\[\d.,eE+-]{0,4096}(?:\"|\{|$)")


def is_chunked(text: str) -> bool:
    """Whether a text that is recorded unparsed is JSON (a list, lines of objects, or truncated) or an
    event stream. One text may then be split over several strings. Prose may also begin with a bracket
    or a field name.
    """
    begun = text.lstrip()
    if re.match(r"\{\s*(?:[\"}]|$)", begun) or _LIST_BEGINNING.match(begun):
        return True
    found = _EVENT_LINES.match(begun)
    at = found.end() if found else 0
    return begun.startswith("data:", at) or (at == len(begun) and begun.startswith(":"))


class _Node:
    def __init__(self) -> None:
        self.inner: Dict[Any, _Node] = {}
        self.pieces: List[str] = []

    def texts(self) -> List[str]:
        own = "".join(self.pieces)
        return ([own] if own else []) + [text for node in self.inner.values() for text in node.texts()]


class _Collector:
    def __init__(self) -> None:
        self.top = _Node()
        self._count = 1

    def add(self, piece: Any) -> None:
        if isinstance(piece, str):
            self.top.pieces.append(piece)
        else:
            self._collect(self.top, piece, 0, True)

    def _collect(self, node: _Node, value: Any, depth: int, is_word: bool) -> None:
        if depth >= _MAX_DEPTH:
            return
        if isinstance(value, list):
            # Entries of several choices come in any order.
            for at, entry in enumerate(value):
                index = count_of(entry.get("index")) if isinstance(entry, dict) else None
                self._collect_in(node, at if index is None else index, entry, depth + 1, is_word)
        elif isinstance(value, dict):
            for name, child in value.items():
                self._collect_in(node, name, child, depth + 1, name in _WORDS)

    def _collect_in(self, node: _Node, key: Any, value: Any, depth: int, is_word: bool) -> None:
        is_text = isinstance(value, str)
        if not (is_word if is_text else isinstance(value, (dict, list))):
            return
        if key not in node.inner:
            if self._count >= _MAX_NODES:
                return
            self._count += 1
            node.inner[key] = _Node()
        if is_text:
            node.inner[key].pieces.append(value)
        else:
            self._collect(node.inner[key], value, depth, is_word)


def join_pieces(text: str) -> List[str]:
    """One text for each path in an event. Not proof: another format may keep text elsewhere."""
    collector = _Collector()
    for piece in _chunks_in(text):
        collector.add(piece)
    return collector.top.texts()


def _chunks_in(text: str) -> Iterator[Any]:
    if text.lstrip().startswith("["):
        listed = parse_json(text)
        yield from listed if isinstance(listed, list) else []
        return
    events = parse_server_sent_events(text)
    failures = 0
    for data in events or text.split("\n"):
        may_parse = failures < _MAX_FAILURES and re.match(r"\s*[\"\[{]", data) is not None
        parsed = parse_json(data) if may_parse else None
        failures += may_parse and parsed is None
        # The data may be the text itself, which may be digits.
        if isinstance(parsed, (str, dict, list)):
            yield parsed
        elif events and data != END_MARK:
            yield data
