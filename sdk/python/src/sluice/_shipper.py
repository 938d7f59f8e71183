"""Builds and sends records in two background threads, which never keep the process alive."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Callable, Deque, Dict, List

from ._budget import ByteBudget
from ._post import Poster
from ._process import finish_with_child, follow_process
from ._queue import QueuedRecord, RecordQueue
from ._send import Pause, Sender
from ._spool import Spool
from ._types import DROP_REASONS, Stats
from ._warn import Warn
from ._words import message_of

#: The API accepts 1,000 records and 32 MiB; smaller batches are answered sooner.
_MAX_RECORDS, _MAX_BATCH_BYTES = 500, 8 * 2**20
_BATCH_DELAY_S = 0.1
#: Records to be built: each holds its bodies within the budget, and this bounds those without a body.
_MAX_UNBUILT = 10_000
#: A thread without work ends, so that programs that record seldom have none.
_IDLE_S = 30.0
#: How long an ending program waits for the API.
_EXIT_FLUSH_S = 3.0


class Shipper:
    """Never raises into the application and never makes it wait, but in ``flush`` and ``close``."""

    def __init__(self, poster: Poster, budget: ByteBudget, warn: Warn, spool: Spool | None = None) -> None:
        self._poster, self._budget, self._warn, self._spool = poster, budget, warn, spool
        self._queue = RecordQueue(budget, self._evicted, self._settled)
        self._sender = Sender(poster, self._queue, warn, self.drop, self._count_sent)
        self._begin()
        follow_process(self)
        if spool is not None and spool.has_backlog():
            with self._changed:
                self._start("sluice-send", self._send_all)

    def _begin(self) -> None:
        self._dropped: Dict[str, int] = dict.fromkeys(DROP_REASONS, 0)
        self._sent = self._building = 0
        self._in_flight: List[QueuedRecord] = []
        self._fresh: List[QueuedRecord] = []
        self._read: List[QueuedRecord] = []
        self._unbuilt: Deque[Callable[[], None]] = deque()
        self._changed = threading.Condition(threading.RLock())
        self._threads: Dict[str, threading.Thread] = {}
        self._is_closed = False
        self._hurry = self._is_asked = self._asked_cut = False

    def restart(self) -> None:
        """After a fork: threads are gone, locks may be held by them, and what waits is the parent's."""
        self._budget.restart()
        self._queue.restart()
        self._poster.forget()
        if self._spool is not None:
            self._spool.restart()
        self._begin()

    def build(self, work: Callable[[], None], give_up: Callable[[], None] = lambda: None) -> None:
        """Runs ``work``, which adds a record, in the background. ``give_up`` releases what it holds."""
        with self._changed:
            is_full = len(self._unbuilt) >= _MAX_UNBUILT
            if not is_full and not self._is_closed:
                self._unbuilt.append(work)
                self._start("sluice-build", self._build_all)
                self._changed.notify_all()
                return
        give_up()
        if is_full:
            self.drop("queue_full", 1, "too many calls end at once")
        else:
            self.drop("shut_down", 1, "added after shutdown()")

    def add(self, record: str) -> None:
        """Adds a record's JSON."""
        if self._is_closed:
            self.drop("shut_down", 1, "added after shutdown()")
            return
        queued = QueuedRecord(record.encode("utf-8"))
        if self._queue.add(queued):
            if self._spool is not None:
                self._fresh.append(queued)
        elif not self._keep_on_disk_alone(queued):
            self.drop("queue_full", 1, "the queue is full (max_queue_bytes)")
        with self._changed:
            self._start("sluice-send", self._send_all)
            self._changed.notify_all()

    def _keep_on_disk_alone(self, record: QueuedRecord) -> bool:
        """Memory may have no room while all that is in it is being sent."""
        if self._spool is None:
            return False
        self._spool.keep([record])
        is_kept = record.segment is not None
        self._spool.evict([record])
        return is_kept

    def drop(self, reason: str, count: int, detail: str) -> None:
        """Counts lost records and warns of them."""
        if count == 0:
            return
        with self._changed:
            self._dropped[reason] += count
            total = self._dropped[reason]
        self._warn(f"drop {reason}", f"{count} record(s) dropped ({reason}; {total} so far): {detail}")

    def flush(self, timeout: float) -> bool:
        """Whether all earlier records were sent or dropped within ``timeout`` seconds."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while self._waiting() > 0 or self._has_backlog():
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                # A pause that the API asked for is cut short once, others every time.
                self._hurry = not (self._is_asked and self._asked_cut)
                self._asked_cut = self._asked_cut or self._is_asked
                if len(self._queue) > 0 or self._has_backlog():
                    self._start("sluice-send", self._send_all)
                self._changed.notify_all()
                self._changed.wait(min(left, 0.5))
            return True

    def flush_at_exit(self) -> None:
        """Warns of what could not be sent."""
        if not self.flush(_EXIT_FLUSH_S):
            waiting, left = self.stats().waiting, self._in_memory_alone()
            self._warn(
                "exit",
                f"the program ends with {waiting} record(s) that the API has not accepted: "
                f"{left} are lost, the others are on disk",
            )
        if self._spool is not None:
            self._spool.close()

    def close(self, timeout: float) -> None:
        """Flushes; drops and counts what is left. Accepts nothing afterwards."""
        if self._is_closed:
            return
        self.flush(timeout)
        with self._changed:
            self._is_closed = True
            left = self._in_memory_alone()
            self._unbuilt.clear()
            self._changed.notify_all()
        self.drop("shut_down", left, "not accepted by the API before shutdown()")
        if self._spool is not None:
            self._spool.close()

    def stats(self) -> Stats:
        """Counts, and what is waiting."""
        with self._changed:
            return Stats(self._sent, self._waiting(), self._budget.used(), dict(self._dropped))

    def _waiting(self) -> int:
        return len(self._queue) + len(self._in_flight) + len(self._unbuilt) + self._building

    def _in_memory_alone(self) -> int:
        on_their_way = sum(record.segment is None for record in self._in_flight)
        return self._queue.in_memory_alone() + on_their_way + len(self._unbuilt) + self._building

    def _has_backlog(self) -> bool:
        return self._spool is not None and (self._spool.has_backlog() or len(self._read) > 0)

    def _evicted(self, records: List[QueuedRecord]) -> None:
        lost = [record for record in records if record.segment is None]
        for record in lost:
            record.is_settled = True
        self.drop("queue_full", len(lost), "the queue is full")
        if self._spool is not None:
            self._spool.evict(records)

    def _settled(self, records: List[QueuedRecord]) -> None:
        if self._spool is not None:
            self._spool.settle(records)

    def _count_sent(self, count: int) -> None:
        with self._changed:
            self._sent += count

    def _start(self, name: str, target: Callable[[], None]) -> None:
        """Under the lock."""
        if name in self._threads or self._is_closed:
            return
        finish_with_child()
        thread = threading.Thread(target=target, name=name, daemon=True)
        self._threads[name] = thread
        try:
            thread.start()
        except RuntimeError as error:
            # No more threads, or the interpreter ends: what waits is flushed or warned of.
            del self._threads[name]
            self._warn("thread", f"records cannot be sent now: {message_of(error)}")

    def _build_all(self) -> None:
        while True:
            with self._changed:
                if not self._unbuilt:
                    self._changed.wait_for(lambda: self._unbuilt or self._is_closed, _IDLE_S)
                if not self._unbuilt:
                    self._threads.pop("sluice-build", None)
                    return
                work = self._unbuilt.popleft()
                self._building = 1
            try:
                work()
            except Exception as error:  # noqa: BLE001 -- counted as lost, with its reason
                self.drop("capture_failed", 1, message_of(error))
            if self._fresh and self._spool is not None:
                if not self._unbuilt or len(self._fresh) >= _MAX_RECORDS:
                    self._spool.keep(self._fresh)
                    self._fresh = []
            with self._changed:
                self._building = 0
                self._changed.notify_all()

    def _send_all(self) -> None:
        self._rest(Pause(_BATCH_DELAY_S))
        while True:
            if not self._is_closed:
                self._read_backlog()
            with self._changed:
                if len(self._queue) == 0:
                    self._changed.wait_for(lambda: len(self._queue) > 0 or self._is_closed, _IDLE_S)
                if len(self._queue) == 0 or self._is_closed:
                    self._threads.pop("sluice-send", None)
                    self._poster.close()
                    return
                batch = self._queue.take(self._poster.batch_limit(_MAX_RECORDS), _MAX_BATCH_BYTES)
                self._in_flight = batch
            try:
                pause = self._sender.send(batch)
            except Exception as error:  # noqa: BLE001 -- a defect of ours must not end the thread
                self._queue.release(batch)
                self.drop("capture_failed", len(batch), message_of(error))
                pause = Pause(_BATCH_DELAY_S)
            with self._changed:
                self._in_flight = []
                self._changed.notify_all()
            self._rest(pause if pause.seconds > 0 or len(self._queue) > 0 else Pause(_BATCH_DELAY_S))

    def _read_backlog(self) -> None:
        """What is on disk alone is sent where nothing else waits."""
        while self._spool is not None and self._has_backlog() and len(self._queue) == 0:
            self._read = self._read or self._spool.next_records()
            while self._read and self._queue.add(self._read[0]):
                self._read.pop(0)
            if self._read and len(self._queue) == 0:
                # Running calls take all memory; or it is larger than all of it.
                if self._budget.used() == 0:
                    self._spool.settle([self._read.pop(0)])
                    self.drop("queue_full", 1, "a record on disk is larger than max_queue_bytes")
                return

    def _rest(self, pause: Pause) -> None:
        with self._changed:
            self._asked_cut = self._asked_cut and pause.is_asked
            self._is_asked = pause.is_asked
            self._hurry = False
            if pause.seconds > 0:
                self._changed.wait_for(lambda: self._hurry or self._is_closed, pause.seconds)
            self._is_asked = False
