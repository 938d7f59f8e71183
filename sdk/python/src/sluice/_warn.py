"""Warnings to the program's operator, through the ``sluice`` logger."""

from __future__ import annotations

import logging
import threading
import time
from typing import Callable, Dict

Warn = Callable[[str, str], None]

_QUIET_S = 60.0
#: Topics are few; a program that makes up names of its own must not fill memory.
_MAX_TOPICS = 1_000
_logger = logging.getLogger("sluice")


def create_warn() -> Warn:
    """``warn(topic, message)`` says a message at most once a minute for each topic."""
    said_at: Dict[str, float] = {}
    lock = threading.RLock()

    def warn(topic: str, message: str) -> None:
        now = time.monotonic()
        with lock:
            if now - said_at.get(topic, -_QUIET_S) < _QUIET_S:
                return
            if len(said_at) >= _MAX_TOPICS:
                said_at.clear()
            said_at[topic] = now
        try:
            _logger.warning("%s", message)
        except Exception:  # noqa: BLE001 -- a handler of the program's failed; there is nobody left to tell
            return

    return warn
