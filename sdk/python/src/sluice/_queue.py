"""Records that wait to be sent, oldest first, within the memory budget; the oldest are evicted."""

from __future__ import annotations

import threading
from collections import deque
from typing import Callable, Deque, List

from ._budget import ByteBudget


class QueuedRecord:
    """The bytes of a record's JSON, and how often the API failed because of it."""

    __slots__ = ("body", "faults", "refusals")

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.faults = 0
        self.refusals = 0


class RecordQueue:
    """``dropped`` is called with the number of evicted records."""

    def __init__(self, budget: ByteBudget, dropped: Callable[[int], None]) -> None:
        self._budget = budget
        self._dropped = dropped
        self._records: Deque[QueuedRecord] = deque()
        self._bytes = 0
        self._lock = threading.RLock()
        budget.evict_from(self._evict)

    def _evict(self, wanted: int) -> bool:
        count = given = 0
        with self._lock:
            # Checked first: what does not fit anyway must not evict anything.
            if self._bytes < wanted:
                return False
            while self._records and given < wanted:
                size = len(self._records.popleft().body)
                self._bytes -= size
                given += size
                count += 1
        self._budget.release(given)
        self._dropped(count)
        return True

    def add(self, body: bytes) -> bool:
        """Whether the record fit the budget."""
        if not self._budget.acquire(len(body)):
            return False
        with self._lock:
            self._records.append(QueuedRecord(body))
            self._bytes += len(body)
        return True

    def take(self, max_records: int, max_bytes: int) -> List[QueuedRecord]:
        """Removes the next records, at least one. Their bytes stay acquired."""
        taken: List[QueuedRecord] = []
        size = 0
        with self._lock:
            while self._records and len(taken) < max_records:
                if taken and size + len(self._records[0].body) > max_bytes:
                    break
                record = self._records.popleft()
                size += len(record.body)
                taken.append(record)
            self._bytes -= size
        return taken

    def requeue(self, records: List[QueuedRecord]) -> None:
        """Returns removed records to the front, in their order."""
        with self._lock:
            self._records.extendleft(reversed(records))
            self._bytes += sum(len(record.body) for record in records)

    def release(self, records: List[QueuedRecord]) -> None:
        """Releases the bytes of removed records."""
        self._budget.release(sum(len(record.body) for record in records))

    def __len__(self) -> int:
        return len(self._records)

    def restart(self) -> None:
        """After a fork: what waits is the parent's to send."""
        self._lock = threading.RLock()
        self._records = deque()
        self._bytes = 0
