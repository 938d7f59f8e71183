"""Posts records to the API: a single one to ``/internal/log``, several to ``/internal/log/batch``."""

from __future__ import annotations

# Here rather than in the sending thread: a fork in the middle of an import leaves its lock to the
# child for ever.
import encodings.idna  # noqa: F401
import time
from typing import List

import httpx

from ._results import BatchDecision, PostAnswer, batch_decision, retry_after_of, single_decision

_TIMEOUT_S = 15.0
#: The batch route is missing only while an older API is being replaced.
_WITHOUT_BATCHES_S = 60.0
#: An answer to a batch of 1,000 is about 100 kB.
_MAX_ANSWER_BYTES = 4 * 2**20


class Poster:
    """One keep-alive connection, used by the sending thread alone."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self._base_url = base_url
        self._headers = {"x-service-key": api_key, "content-type": "application/json"}
        # Made here for the same reason: it imports its transport and the certificates.
        self._client: httpx.Client | None = self._new_client()
        self._no_batches_until = 0.0

    def batch_limit(self, wanted: int) -> int:
        """How many of ``wanted`` records the next post may have."""
        return 1 if time.monotonic() < self._no_batches_until else wanted

    def post(self, records: List[bytes]) -> BatchDecision:
        """Never raises."""
        try:
            if len(records) == 1:
                return single_decision(self._send("/internal/log", records[0]))
            body = b'{"records":[' + b",".join(records) + b"]}"
            answer = self._send("/internal/log/batch", body)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError) as error:
            # Some firewalls reset the connection.
            return BatchDecision("again", f"{type(error).__name__}: {error}", is_fault=True)
        except Exception as error:  # noqa: BLE001 -- the records wait, and the operator is told
            self.forget()
            return BatchDecision("again", f"{type(error).__name__}: {error}")
        if answer.status != 404:
            return batch_decision(answer, len(records))
        self._no_batches_until = time.monotonic() + _WITHOUT_BATCHES_S
        return BatchDecision("again", "the API has no batch route")

    def _send(self, path: str, body: bytes) -> PostAnswer:
        client = self._client or self._new_client()
        self._client = client
        kept = b""
        with client.stream("POST", self._base_url + path, content=body) as answer:
            for chunk in answer.iter_bytes():
                if len(kept) < _MAX_ANSWER_BYTES:
                    kept += chunk
            after = retry_after_of(answer.headers.get("retry-after"))
            return PostAnswer(answer.status_code, after, kept.decode("utf-8", "replace"))

    def _new_client(self) -> httpx.Client:
        return httpx.Client(timeout=httpx.Timeout(_TIMEOUT_S), headers=self._headers)

    def forget(self) -> None:
        """The next post opens a new connection. Nothing is closed: after a fork the parent still uses it."""
        self._client = None

    def close(self) -> None:
        """Closes the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None
