"""Tool calls of a chat completion, assembled from chunks that name their call in different ways."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple

from .._json import JsonObject, field_at, parse_json, text_of, to_json
from .merge import MAX_INDEX, merge_delta


class _Progress:
    """Whether a JSON object or list that arrives in chunks is complete. Each character is looked at once."""

    def __init__(self) -> None:
        self._depth = 0
        self._opened = self._in_string = self._escaped = False

    def add(self, text: str) -> None:
        for character in text:
            if self._in_string:
                if self._escaped:
                    self._escaped = False
                elif character == "\\":
                    self._escaped = True
                elif character == '"':
                    self._in_string = False
            elif character == '"':
                self._in_string = True
            elif character in "{[":
                self._depth += 1
                self._opened = True
            elif character in "}]":
                self._depth -= 1

    def is_whole(self) -> bool:
        return self._opened and self._depth <= 0 and not self._in_string


class _Piece(NamedTuple):
    fields: JsonObject
    index: Any
    id: str | None
    name: str | None
    given: Any


class _Call:
    def __init__(self, index: Any) -> None:
        self.fields: JsonObject = {}
        self.index = index
        self.progress = _Progress()
        self.is_renamed = False
        # Arguments by identifier, if chunks of one name had several before they were complete.
        self.by_id: Dict[str, str] | None = None
        self.last_id = ""

    def id(self) -> str | None:
        return text_of(self.fields.get("id"))

    def is_free_text(self) -> bool:
        """A custom tool accepts any text, so its end cannot be detected."""
        return "custom" in self.fields

    def extend(self, piece: _Piece) -> None:
        before, known_id = _name_of(self.fields), self.id()
        is_other = known_id is not None and piece.id is not None and piece.id != known_id
        if self.by_id is None and is_other and piece.name is not None and not self.progress.is_whole():
            self.by_id = {str(known_id): _arguments_of(self.fields)}
        if self.by_id is not None and isinstance(piece.given, str):
            owner = self.last_id if piece.id is None else piece.id
            self.by_id[owner] = self.by_id.get(owner, "") + piece.given
        self.last_id = self.last_id if piece.id is None else piece.id
        merge_delta(self.fields, piece.fields)
        if piece.name is not None and before is not None:
            self.is_renamed = True
            function = self.fields.get("function")
            if piece.name != before and isinstance(function, dict):
                # Some hosts repeat the start of the name.
                function["name"] = piece.name if piece.name.startswith(before) else before + piece.name
        if not self.is_free_text() and piece.given is not None:
            self.progress.add(piece.given if isinstance(piece.given, str) else to_json(piece.given))

    def goes_on(self, piece: _Piece) -> bool:
        """Whether a chunk continues the call that its index, identifier or position suggests."""
        known_id, name = self.id(), _name_of(self.fields)
        is_other = known_id is not None and piece.id is not None and known_id != piece.id
        adds = isinstance(piece.given, dict) or (isinstance(piece.given, str) and piece.given.strip() != "")
        has_nothing = is_other and field_at(self.fields, "function", "arguments") is None
        is_over = has_nothing or self.progress.is_whole()
        # Some hosts give each chunk its own identifier.
        if piece.name is None:
            return not (is_other and is_over and adds)
        if name is None:
            return not is_other
        if piece.name != name:
            return self._is_in_pieces(piece)
        if is_other and self.is_free_text():
            return False
        if not is_over:
            return True
        return not adds and (self.is_renamed or (known_id is not None and known_id == piece.id))

    def _is_in_pieces(self, piece: _Piece) -> bool:
        """Whether the name itself is split, as OpenAI's clients support: within one call, before its
        arguments.
        """
        known_id = self.id()
        if known_id is None:
            return False
        by_index = piece.index is not None and piece.index == self.index
        is_same = by_index if piece.id is None else piece.id == known_id
        return is_same and _arguments_of(self.fields) == "" and not self.is_free_text()

    def parts(self) -> List[JsonObject]:
        """Either one call whose host gives each chunk another identifier (vLLM), or several calls of one
        function: whichever yields valid JSON.
        """
        if self.by_id is None or _is_json(_arguments_of(self.fields)):
            return [self.fields]
        if not all(_is_json(text) for text in self.by_id.values()):
            return [self.fields]
        function = self.fields.get("function") or {}
        return [
            {**self.fields, "id": key, "function": {**function, "arguments": text}}
            for key, text in self.by_id.items()
        ]


class CallPieces:
    """By the protocol each chunk has an index. Some hosts omit it, or use the same for all calls. Then the
    identifier decides if every chunk has one, or else the name, and complete arguments end a call.
    """

    def __init__(self) -> None:
        self._calls: List[_Call] = []
        self._by_index: Dict[Any, _Call] = {}
        self._by_id: Dict[str, _Call] = {}
        self._by_name: Dict[str, _Call] = {}
        self._others: List[Any] = []
        self._last: _Call | None = None

    def add(self, given: Any) -> None:
        """Adds one entry of a delta's ``tool_calls``."""
        if not isinstance(given, dict):
            self._others.append(given)
            return
        piece = _piece_of(given)
        known = self._known_for(piece)
        found = known if known is None or known.goes_on(piece) else self._open_for(piece)
        is_full = len(self._calls) >= MAX_INDEX
        call = found or (self._last if is_full else None) or self._begin(piece)
        call.extend(piece)
        name = _name_of(call.fields)
        call.index = piece.index if call.index is None else call.index
        if call.index is not None:
            self._by_index[call.index] = call
        if piece.id is not None:
            self._by_id[piece.id] = call
        if name is not None:
            self._by_name[name] = call
        self._last = call

    def calls(self) -> List[Any]:
        """As in a message, without the stream's index. Anything that is no call comes last."""
        return [part for call in self._calls for part in call.parts()] + self._others

    def is_doubtful(self) -> bool:
        """Whether the assignment of chunks is ambiguous."""
        return any(
            call.by_id is not None and not all(_is_json(_arguments_of(part)) for part in call.parts())
            for call in self._calls
        )

    def _known_for(self, piece: _Piece) -> _Call | None:
        """The call by index and identifier, or else the previous one."""
        same_id = None if piece.id is None else self._by_id.get(piece.id)
        if piece.index is None:
            return same_id or self._last
        same_index = self._by_index.get(piece.index)
        if same_index is None:
            if piece.name is not None:
                return None
            is_late = self._last is not None and self._last.index is None
            return same_id or (self._last if is_late else None)
        return same_id if same_id is not None and same_id.index == piece.index else same_index

    def _open_for(self, piece: _Piece) -> _Call | None:
        """The open call of this name, if only the name identifies it."""
        named = self._by_name.get(piece.name) if piece.id is None and piece.name is not None else None
        is_open = named is not None and not named.progress.is_whole() and named.id() is None
        return named if is_open else None

    def _begin(self, piece: _Piece) -> _Call:
        call = _Call(piece.index)
        self._calls.append(call)
        return call


def _piece_of(given: JsonObject) -> _Piece:
    index = given.get("index")
    fields = {name: value for name, value in given.items() if name != "index"}
    is_index = isinstance(index, (int, float)) and not isinstance(index, bool)
    added = field_at(fields, "function", "arguments")
    return _Piece(
        fields=fields,
        index=index if is_index else None,
        id=text_of(fields.get("id")),
        name=_name_of(fields),
        given=field_at(fields, "custom", "input") if added is None else added,
    )


def _name_of(call: JsonObject) -> str | None:
    name = field_at(call, "function", "name")
    return text_of(field_at(call, "custom", "name") if name is None else name)


def _arguments_of(call: JsonObject) -> str:
    return text_of(field_at(call, "function", "arguments")) or ""


def _is_json(text: str) -> bool:
    return parse_json(text) is not None
