"""Sends batches and applies the API's decisions."""

from __future__ import annotations

import random
from typing import Callable, List, NamedTuple, Tuple

from ._post import Poster
from ._queue import QueuedRecord, RecordQueue
from ._results import BatchDecision, RecordDecision
from ._warn import Warn

_MIN_PAUSE_S, _MAX_PAUSE_S = 0.5, 30.0
#: A quota may be raised or a key fixed within minutes: try once a minute.
_SLOW_PAUSE_S = 60.0
#: Greatest pause on request: a quota resets in weeks, but may be raised today.
_MAX_ASKED_S = 600.0
#: Rejections of a record, alone while others are accepted, before it is dropped: a firewall may err
#: for a moment.
_MAX_REFUSALS = 3
#: Failures before a record is considered the cause: about a minute with the pauses of failing batches.
_MAX_FAULTS = 10
#: Records tried alone before all are considered blocked: a wrong key must not cost one request per record.
_MAX_PROBES = 8
_TOO_LARGE = "a record is larger than the API accepts"

Drop = Callable[[str, int, str], None]


class Pause(NamedTuple):
    """``is_asked``: the API asked for the pause."""

    seconds: float
    is_asked: bool = False


_NONE = Pause(0.0)


class Sender:
    """After ``send`` each record is sent, requeued or dropped."""

    def __init__(
        self, poster: Poster, queue: RecordQueue, warn: Warn, drop: Drop, sent: Callable[[int], None]
    ) -> None:
        self._poster, self._queue, self._warn, self._drop, self._sent = poster, queue, warn, drop, sent
        self._failures = 0

    def send(self, batch: List[QueuedRecord]) -> Pause:
        """Posts records taken from the queue. Returns the pause before the next batch."""
        decision = self._post(batch)
        if decision.kind == "results":
            return self._settle(batch, decision.records)
        if decision.kind == "again":
            if decision.is_fault and (self._failures + 1) % _MAX_FAULTS == 0:
                return self._search(batch, decision)
            return self._requeue(batch, decision.after, decision.detail)
        if decision.kind == "refused":
            return self._search(batch, decision)
        if decision.kind == "stop":
            return self._stop(batch, decision.detail)
        if decision.kind == "over_quota":
            self._queue.release(batch)
            self._drop("over_quota", len(batch), decision.detail)
            return _pause(decision.after, _SLOW_PAUSE_S if decision.after is None else 0.0)
        if len(batch) > 1:
            half = len(batch) // 2
            return max(self.send(batch[:half]), self.send(batch[half:]))
        self._give_up(batch, _TOO_LARGE)
        return _NONE

    def _post(self, batch: List[QueuedRecord]) -> BatchDecision:
        return self._poster.post([record.body for record in batch])

    def _requeue(self, batch: List[QueuedRecord], after: float | None, detail: str) -> Pause:
        self._queue.requeue(batch)
        self._failures += 1
        if self._failures >= 3:
            self._warn(
                "away", f"the API does not accept records ({detail}); they wait within max_queue_bytes"
            )
        # With jitter, so that programs do not all return at once.
        wait = min(_MAX_PAUSE_S, _MIN_PAUSE_S * 2 ** min(self._failures - 1, 10))
        return _pause(after, wait * (0.5 + random.random() / 2))

    def _stop(self, batch: List[QueuedRecord], detail: str) -> Pause:
        self._queue.requeue(batch)
        self._warn("stop", f"records cannot be sent and wait within max_queue_bytes: {detail}")
        return _pause(None, _SLOW_PAUSE_S)

    def _give_up(self, batch: List[QueuedRecord], detail: str) -> None:
        self._queue.release(batch)
        self._drop("refused", len(batch), detail)

    def _settle(self, batch: List[QueuedRecord], decisions: List[RecordDecision]) -> Pause:
        pairs = list(zip(batch, decisions))
        refused = [decision for _, decision in pairs if decision.kind == "refused"]
        self._sent(sum(decision.kind == "stored" for _, decision in pairs))
        self._drop(
            "over_quota",
            sum(decision.kind == "over_quota" for _, decision in pairs),
            "the project's quota is used up",
        )
        self._drop("refused", len(refused), refused[0].detail if refused else "")
        self._queue.release([record for record, decision in pairs if decision.kind != "again"])
        is_decided = any(decision.kind != "again" for _, decision in pairs)
        again, lost = _divided(pairs, is_decided)
        self._give_up(lost, "the API answers 500 to this record while it accepts others")
        if is_decided:
            self._failures = 0
        return self._requeue(again, None, "the API could not accept all records") if again else _NONE

    def _search(self, batch: List[QueuedRecord], whole: BatchDecision) -> Pause:
        """Looks for records that something before the API (a web application firewall, a proxy) rejects."""
        taken = self._find_taken(batch)
        if taken is None:
            if whole.kind == "refused":
                return self._stop(batch, whole.detail)
            return self._requeue(batch, None, whole.detail)
        alone, left = self._bisect([record for record in batch if record is not taken])
        # An accepted record again, which stores nothing: was the API reachable throughout?
        if not alone or left or self._post([taken]).kind != "results":
            alone, left = [], alone + left
        for record in alone:
            record.refusals += 1
        lost = [record for record in alone if record.refusals >= _MAX_REFUSALS]
        self._give_up(lost, f"rejected alone while others are accepted: {whole.detail}")
        back = [record for record in alone if record not in lost] + left
        return self._requeue(back, None, whole.detail) if back else _NONE

    def _find_taken(self, batch: List[QueuedRecord]) -> QueuedRecord | None:
        """Tries some records alone, at random places; returns the first accepted one, which is settled."""
        if len(batch) == 1:
            return None
        for record in random.sample(batch, min(_MAX_PROBES, len(batch))):
            decision = self._post([record])
            if decision.kind == "results":
                self._settle([record], decision.records)
                return record
            if not _may_be_one_record(decision):
                return None
        return None

    def _bisect(self, batch: List[QueuedRecord]) -> Tuple[List[QueuedRecord], List[QueuedRecord]]:
        """The records rejected alone, and those undecided because the API went away."""
        alone: List[QueuedRecord] = []
        todo = [batch] if batch else []
        while todo:
            records = todo.pop()
            decision = self._post(records)
            if decision.kind == "results":
                self._settle(records, decision.records)
            elif not _may_be_one_record(decision):
                return alone, [record for rest in [*todo, records] for record in rest]
            elif len(records) > 1:
                half = len(records) // 2
                todo += [records[half:], records[:half]]
            elif decision.kind == "too_large":
                self._give_up(records, _TOO_LARGE)
            else:
                alone += records
        return alone, []


def _divided(
    pairs: List[Tuple[QueuedRecord, RecordDecision]], is_decided: bool
) -> Tuple[List[QueuedRecord], List[QueuedRecord]]:
    """The records to send again, and those that keep failing while others are decided."""
    again: List[QueuedRecord] = []
    lost: List[QueuedRecord] = []
    for record, decision in pairs:
        if decision.kind != "again":
            continue
        if is_decided and decision.is_fault:
            record.faults += 1
        (lost if record.faults >= _MAX_FAULTS else again).append(record)
    return again, lost


def _may_be_one_record(decision: BatchDecision) -> bool:
    return decision.kind in ("refused", "too_large") or (decision.kind == "again" and decision.is_fault)


def _pause(asked: float | None, own: float) -> Pause:
    seconds = min(asked or 0.0, _MAX_ASKED_S)
    return Pause(seconds, True) if seconds > own else Pause(own)
