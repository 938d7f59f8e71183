"""Memory shared by bodies of running calls and by waiting records, in bytes."""

from __future__ import annotations

import threading
from typing import Callable


class ByteBudget:
    """Bounds what recording holds in memory. Safe to use from any thread."""

    def __init__(self, max_bytes: int) -> None:
        self._max = max_bytes
        self._used = 0
        # Reentrant: a collected stream may end its call in the middle of any of these.
        self._lock = threading.RLock()
        self._evict: Callable[[int], bool] = lambda _wanted: False

    def evict_from(self, evict: Callable[[int], bool]) -> None:
        """``evict(bytes)`` frees at least that many by ``release``, or frees nothing and returns False."""
        self._evict = evict

    def acquire(self, count: int) -> bool:
        """Whether the bytes were acquired, if necessary in place of older records."""
        # A second try: what was evicted may have been acquired by another thread meanwhile.
        for _ in range(2):
            with self._lock:
                missing = self._used + count - self._max
                if missing <= 0:
                    self._used += count
                    return True
            if count > self._max or not self._evict(missing):
                return False
        return False

    def release(self, count: int) -> None:
        """Gives bytes back."""
        with self._lock:
            # A call that began before a fork may end in the child, whose budget began anew.
            self._used = max(0, self._used - count)

    def used(self) -> int:
        """Bytes held now."""
        return self._used

    def restart(self) -> None:
        """After a fork: the lock may have been held by a thread that the child does not have."""
        self._lock = threading.RLock()
        self._used = 0
