"""Records on disk until the API has decided on them: a program that ends or is killed loses none of them."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Dict, List

from ._queue import QueuedRecord, Segment
from ._warn import Warn

if sys.platform != "win32":
    import fcntl

_LOCK = "lock"


class Spool:
    """A folder for each process, locked while it runs, in one for the key. A segment is a file of records, one
    a line, complete and on disk once it has its name, and deleted once the API has decided on all of them.
    Files are readable by their owner alone. What fails is warned of, and those records wait in memory.
    """

    def __init__(self, folder: str, api_key: str, max_bytes: int, warn: Warn) -> None:
        self._max, self._warn = max_bytes, warn
        # Another project's records must not be sent with this key.
        self._parent = Path(folder) / hashlib.sha256(api_key.encode("utf-8")).hexdigest()[:16]
        self._forget()
        self._is_off = sys.platform == "win32"
        if self._is_off:
            warn("spool", "records wait in memory alone: this system has no locks for a spool")
            return
        try:
            self._take_over()
        except OSError as error:
            self._fail(error)

    def _forget(self) -> None:
        self._own: Path | None = None
        self._handle = -1
        self._sizes: Dict[Segment, int] = {}
        self._backlog: List[Segment] = []
        self._lock = threading.RLock()

    def keep(self, records: List[QueuedRecord]) -> None:
        """Writes the records that are not decided yet."""
        with self._lock:
            waiting = [record for record in records if not record.is_settled]
            text = b"".join(record.body + b"\n" for record in waiting)
            if not waiting or self._is_off:
                return
            if sum(self._sizes.values()) + len(text) > self._max:
                self._warn("spool full", "the spool is full: new records wait in memory alone")
                return
            try:
                segment = Segment(self._write(text), len(waiting))
            except OSError as error:
                self._fail(error)
                return
            self._sizes[segment] = len(text)
            for record in waiting:
                record.segment = segment

    def settle(self, records: List[QueuedRecord]) -> None:
        """The API has decided on the records, or they are given up."""
        with self._lock:
            for record in records:
                record.is_settled = True
                segment = record.segment
                if segment is None:
                    continue
                record.segment = None
                self._leave(segment)

    def evict(self, records: List[QueuedRecord]) -> None:
        """They are no longer in memory. Their segment is read again once no other record of it waits: what it
        has besides is sent twice, and stored once.
        """
        with self._lock:
            for record in records:
                segment = record.segment
                if segment is not None:
                    record.segment, segment.is_evicted = None, True
                    self._leave(segment)

    def _leave(self, segment: Segment) -> None:
        segment.left -= 1
        if segment.left > 0:
            return
        if segment.is_evicted:
            segment.is_evicted = False
            self._backlog.append(segment)
        else:
            self._delete(segment)

    def has_backlog(self) -> bool:
        """Whether there are records on disk that are not in memory."""
        return len(self._backlog) > 0

    def next_records(self) -> List[QueuedRecord]:
        """The records of one such segment."""
        with self._lock:
            if not self._backlog:
                return []
            segment = self._backlog.pop(0)
            try:
                lines = segment.path.read_bytes().splitlines()
            except OSError as error:
                self._fail(error)
                return []
            records = [QueuedRecord(line) for line in lines if line.startswith(b"{") and line.endswith(b"}")]
            segment.left = len(records)
            for record in records:
                record.segment = segment
            if not records:
                self._delete(segment)
            return records

    def close(self) -> None:
        """Removes the folder if nothing is left in it; the next program takes over what is."""
        with self._lock:
            if self._own is None:
                return
            if not self._sizes:
                _remove(self._own)
            os.close(self._handle)
            self._own = None

    def restart(self) -> None:
        """After a fork: the folder is the parent's."""
        handle = self._handle
        self._forget()
        if handle >= 0:
            os.close(handle)

    def _write(self, text: bytes) -> Path:
        folder = self._folder()
        path = folder / f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.jsonl"
        new = path.with_suffix(".new")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.rename(new, path)
        _sync(folder)
        return path

    def _folder(self) -> Path:
        if self._own is not None:
            return self._own
        self._parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = uuid.uuid4().hex
        # Locked before it has a name that others look for.
        new = self._parent / f".{name}"
        new.mkdir(mode=0o700)
        self._handle = os.open(new / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        own = self._parent / name
        os.rename(new, own)
        _sync(self._parent)
        self._own = own
        return own

    def _take_over(self) -> None:
        """Moves the segments of ended programs here."""
        others = [] if not self._parent.is_dir() else sorted(self._parent.iterdir())
        for other in others:
            if other.name.startswith("."):
                continue
            try:
                handle = os.open(other / _LOCK, os.O_RDWR)
            except FileNotFoundError:
                continue
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for path in sorted(other.glob("*.jsonl")):
                    here = self._folder() / path.name
                    os.rename(path, here)
                    segment = Segment(here, 0)
                    self._backlog.append(segment)
                    self._sizes[segment] = here.stat().st_size
                _remove(other)
            except BlockingIOError:
                # Its program runs.
                continue
            finally:
                os.close(handle)

    def _delete(self, segment: Segment) -> None:
        self._sizes.pop(segment, None)
        try:
            # After a shutdown the next program may have it.
            segment.path.unlink(missing_ok=True)
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self._warn("spool", f"records wait in memory alone: {error}")


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(folder: Path) -> None:
    """With what an interrupted write has left."""
    for path in [*folder.glob("*.new"), folder / _LOCK]:
        path.unlink()
    folder.rmdir()
