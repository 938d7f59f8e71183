"""Records that wait to be sent, oldest first, within the memory budget; the oldest are evicted."""

from __future__ import annotations

import threading
from collections import deque
from pathlib import Path
from typing import Callable, Deque, List

from ._budget import ByteBudget


class Segment:
    """A file of the spool; ``left``: its records in memory that are not decided."""

    def __init__(self, path: Path, left: int) -> None:
        self.path, self.left = path, left
        self.is_evicted = False


class QueuedRecord:
    """The bytes of a record's JSON, how often the API failed because of it, and where it is on disk."""

    __slots__ = ("body", "faults", "is_settled", "refusals", "segment")

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.faults = 0
        self.refusals = 0
        self.is_settled = False
        self.segment: Segment | None = None


class RecordQueue:
    """``evicted`` is called with those that made room, ``settled`` with those that are decided."""

    def __init__(
        self,
        budget: ByteBudget,
        evicted: Callable[[List[QueuedRecord]], None],
        settled: Callable[[List[QueuedRecord]], None],
    ) -> None:
        self._budget = budget
        self._evicted = evicted
        self._settled = settled
        self._records: Deque[QueuedRecord] = deque()
        self._bytes = 0
        self._lock = threading.RLock()
        budget.evict_from(self._evict)

    def _evict(self, wanted: int) -> bool:
        given = 0
        evicted: List[QueuedRecord] = []
        with self._lock:
            # Checked first: what does not fit anyway must not evict anything.
            if self._bytes < wanted:
                return False
            while self._records and given < wanted:
                record = self._records.popleft()
                size = len(record.body)
                self._bytes -= size
                given += size
                evicted.append(record)
        self._budget.release(given)
        self._evicted(evicted)
        return True

    def add(self, record: QueuedRecord) -> bool:
        """Whether the record fit the budget."""
        if not self._budget.acquire(len(record.body)):
            return False
        with self._lock:
            self._records.append(record)
            self._bytes += len(record.body)
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
        """Releases the bytes of removed records, which are decided."""
        self._settled(records)
        self._budget.release(sum(len(record.body) for record in records))

    def in_memory_alone(self) -> int:
        """Records that are not on disk."""
        with self._lock:
            return sum(record.segment is None for record in self._records)

    def __len__(self) -> int:
        return len(self._records)

    def restart(self) -> None:
        """After a fork: what waits is the parent's to send."""
        self._lock = threading.RLock()
        self._records = deque()
        self._bytes = 0
