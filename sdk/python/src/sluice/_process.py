"""The process's end, and its children's beginning."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from typing import Any, List, Protocol


class Ending(Protocol):
    """What is flushed at the end of a process, and begins anew in a forked one."""

    def flush_at_exit(self) -> None: ...

    def restart(self) -> None: ...


_all: weakref.WeakSet[Any] = weakref.WeakSet()
_is_finalized = False
_lock = threading.RLock()


def follow_process(ending: Ending) -> None:
    """Flushes it at exit, and restarts it after a fork."""
    with _lock:
        _all.add(ending)


def finish_with_child() -> None:
    """Called before records wait: a child of ``multiprocessing`` runs its own finalizers, and no
    ``atexit``.
    """
    global _is_finalized
    if _is_finalized:
        return
    with _lock:
        _is_finalized = True
    process, util = sys.modules.get("multiprocessing.process"), sys.modules.get("multiprocessing.util")
    if process is not None and util is not None and process.parent_process() is not None:
        util.Finalize(None, _flush_all, exitpriority=0)


def _flush_all() -> None:
    endings: List[Ending] = list(_all)
    for ending in endings:
        ending.flush_at_exit()


def _restart_all() -> None:
    global _is_finalized, _lock
    _is_finalized, _lock = False, threading.RLock()
    endings: List[Ending] = list(_all)
    for ending in endings:
        ending.restart()


atexit.register(_flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restart_all)
