"""Public types."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

CallRecord = Dict[str, Any]
"""A recorded call, as ``POST /internal/log`` accepts it."""

BeforeSend = Callable[[CallRecord], Optional[CallRecord]]

DROP_REASONS = ("queue_full", "over_quota", "refused", "before_send", "capture_failed", "shut_down")


@dataclass(frozen=True)
class Session:
    """Labels of a part of a program. Missing ones come from the enclosing session."""

    session_id: str | None = None
    agent_name: str | None = None
    agent_tag: str | None = None
    user_id: str | None = None
    metadata: Mapping[str, Any] | None = None
    context: Sequence[int | str] | None = None
    """Where the requests hold retrieved text: message indexes from 0 and JSON pointers."""

    def over(self, outer: Session) -> Session:
        """These labels over those of ``outer``; metadata is merged."""
        metadata: Any = outer.metadata if self.metadata is None else self.metadata
        # What is no mapping is warned of when a call is recorded; it must not raise here.
        if isinstance(outer.metadata, Mapping) and isinstance(self.metadata, Mapping):
            metadata = {**outer.metadata, **self.metadata}
        return Session(
            session_id=outer.session_id if self.session_id is None else self.session_id,
            agent_name=outer.agent_name if self.agent_name is None else self.agent_name,
            agent_tag=outer.agent_tag if self.agent_tag is None else self.agent_tag,
            user_id=outer.user_id if self.user_id is None else self.user_id,
            metadata=metadata,
            context=outer.context if self.context is None else self.context,
        )


@dataclass(frozen=True)
class Stats:
    """Counts since the client was made, and what is waiting now."""

    sent: int
    """Records accepted by the API."""
    waiting: int
    """Records waiting, being built or being sent."""
    held_bytes: int
    """Bytes held in memory for recording, bodies of running calls included."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Lost records, by reason."""
