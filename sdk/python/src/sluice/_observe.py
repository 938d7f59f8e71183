"""What wrapped clients of every kind do around a call: begin an attempt, and follow its answer."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, Iterator, Type

from ._attempt import Attempt, Recording
from ._calls import model_call_of

Source = Callable[[], "Recording | None"]
"""None while recording is off."""


def begin_attempt(
    source: Source, method: str, url: str, body: Callable[[], "str | None"], is_mistral: bool = False
) -> Attempt | None:
    """The attempt of a request; None for one that is not recorded. Never raises: the call goes on."""
    recording: Recording | None = None
    try:
        recording = source()
        call = model_call_of(url, is_mistral) if recording is not None else None
        if recording is None or call is None or method.upper() != "POST":
            return None
        text = body()
        return None if text is None else Attempt(call, text, recording)
    except Exception as error:  # noqa: BLE001 -- counted as lost
        if recording is not None:
            recording.lost(error)
        return None


class Failing:
    """``with Failing(attempt):`` records what is raised inside as the attempt's failure."""

    def __init__(self, attempt: Attempt, *but: Type[BaseException]) -> None:
        self._attempt, self._but = attempt, but

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: Type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if error is not None and not isinstance(error, self._but):
            self._attempt.fail(error)


def follow_answer(
    attempt: Attempt, response: Any, follow: Callable[[], None], is_decoded: bool = False
) -> None:
    """Reads the answer's head, and its body if it is read already. Else ``follow`` puts an observer in the
    place of what is read later, which the reader has decoded if ``is_decoded``.
    """
    try:
        headers = {str(name).lower(): str(value) for name, value in response.headers.items()}
        loaded = getattr(response, "_content", None)
        if is_decoded or isinstance(loaded, bytes):
            headers.pop("content-encoding", None)
        attempt.answered(response.status_code, headers)
        if isinstance(loaded, bytes):
            attempt.chunk(loaded)
            attempt.end()
        else:
            follow()
    except Exception as error:  # noqa: BLE001 -- recorded without its body
        attempt.fail(error)


class Observed:
    """Something in whose place an observer stands: everything else is its own."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        # Programs reach for the pool of their own transport.
        if name.startswith("__") or name == "_inner":
            raise AttributeError(name)
        return getattr(self._inner, name)


class ObservedBody:
    """The body of an answer. Nothing is read ahead or held back."""

    def __init__(self, inner: Any, attempt: Attempt) -> None:
        self._inner, self._attempt = inner, attempt

    def _chunks(self, chunks: Any) -> Iterator[bytes]:
        # A reader that stops early closes or drops the body.
        with Failing(self._attempt, GeneratorExit):
            for chunk in chunks:
                self._attempt.chunk(chunk)
                yield chunk
        self._attempt.end()

    def __del__(self) -> None:
        self._attempt.abandon()

