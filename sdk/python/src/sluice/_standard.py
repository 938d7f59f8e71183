"""The client of the package's functions."""

from __future__ import annotations

import threading

from ._client import SluiceClient

_standard: SluiceClient | None = None
_lock = threading.RLock()


def standard_client() -> SluiceClient:
    """Configured by the environment, unless ``configure`` was called."""
    global _standard
    found = _standard
    if found is not None:
        return found
    with _lock:
        if _standard is None:
            _standard = SluiceClient()
        return _standard


def replace_standard(client: SluiceClient) -> SluiceClient:
    """The old client still sends its records."""
    global _standard
    _standard = client
    return client
