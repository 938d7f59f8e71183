"""What an answer of the API means for records."""

from __future__ import annotations

import email.utils
import time
from typing import List, NamedTuple

from ._json import JsonObject, field_at, list_of, object_of, parse_json, text_of

#: These depend on the key or address, never on a record. 407 comes from a proxy.
_STOP = frozenset([401, 404, 405, 407])
_QUOTA_CODE = "INGEST_QUOTA_EXCEEDED"


class PostAnswer(NamedTuple):
    """``retry_after``: seconds, None without the header."""

    status: int
    retry_after: float | None
    text: str


class RecordDecision(NamedTuple):
    """``kind``: ``stored``, ``again``, ``over_quota`` or ``refused``. ``is_fault``: the record may be the
    cause.
    """

    kind: str
    detail: str = ""
    is_fault: bool = False


class BatchDecision(NamedTuple):
    """``kind``: ``results`` with a decision for each record; for the whole batch ``again``, ``refused``
    (because of one record or of all), ``stop`` (an operator must act), ``over_quota`` or ``too_large``.
    """

    kind: str
    detail: str = ""
    after: float | None = None
    is_fault: bool = False
    records: List[RecordDecision] = []


def batch_decision(answer: PostAnswer, count: int) -> BatchDecision:
    """Reads the answer to ``POST /internal/log/batch``."""
    if answer.status != 200:
        return _whole_decision(answer)
    results = list_of(field_at(parse_json(answer.text), "results"))
    if len(results) != count:
        return BatchDecision("again", "the answer is not a list of results", is_fault=True)
    return BatchDecision("results", records=[_record_decision(object_of(result) or {}) for result in results])


def single_decision(answer: PostAnswer) -> BatchDecision:
    """Reads the answer to ``POST /internal/log``."""
    body = object_of(parse_json(answer.text))
    if 200 <= answer.status < 300 and (answer.text == "" or body is not None):
        return BatchDecision("results", records=[RecordDecision("stored")])
    # The API's error format. A firewall answers with a page.
    if answer.status in (400, 422) and body is not None and body.get("detail") is not None:
        return BatchDecision("results", records=[_record_decision({**body, "status_code": answer.status})])
    return _whole_decision(answer)


def retry_after_of(header: str | None) -> float | None:
    """Seconds of a Retry-After, which may be a date (RFC 9110, 10.2.3)."""
    if header is None:
        return None
    if header.isdigit():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _whole_decision(answer: PostAnswer) -> BatchDecision:
    status, after = answer.status, answer.retry_after
    body = parse_json(answer.text)
    code = text_of(field_at(body, "code"))
    detail = text_of(field_at(body, "detail")) or f"HTTP {status}"
    if status == 413:
        return BatchDecision("too_large", detail)
    # A 429 without that code comes from something in between, and says nothing about the project.
    if status == 429 and code == _QUOTA_CODE:
        return BatchDecision("over_quota", detail, after)
    # With a code the API rejects the key; without one, a firewall rejects the content.
    if status in _STOP or (status == 403 and code is not None):
        return BatchDecision("stop", detail)
    if 400 <= status < 500 and status not in (408, 429):
        return BatchDecision("refused", detail)
    return BatchDecision("again", detail, after, is_fault=status == 500 or status < 400)


def _record_decision(result: JsonObject) -> RecordDecision:
    status = result.get("status_code")
    if not isinstance(status, int):
        return RecordDecision("stored")
    if status == 429:
        return RecordDecision("over_quota")
    if status >= 500:
        return RecordDecision("again", is_fault=status == 500)
    return RecordDecision("refused", text_of(result.get("detail")) or f"HTTP {status}")
