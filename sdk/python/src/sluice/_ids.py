"""Identifiers of records: TypeIDs, a prefix and a UUIDv7 in Crockford base32
(``req_01h455vb4pex5vsknk084sn02q``).
"""

from __future__ import annotations

import os
import re
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_REQUEST_ID = re.compile(r"req_[0-7][0-9a-hjkmnp-tv-z]{25}")


def new_request_id(time_ms: int | None = None) -> str:
    """A new identifier, made now or at ``time_ms`` (Unix milliseconds)."""
    at = int(time.time() * 1000) if time_ms is None else time_ms
    drawn = int.from_bytes(os.urandom(10), "big")
    rand_a, rand_b = drawn >> 68, drawn & (2**62 - 1)
    value = (at & (2**48 - 1)) << 80 | 7 << 76 | rand_a << 64 | 2 << 62 | rand_b
    return "req_" + "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))


def is_request_id(text: str) -> bool:
    """Whether a text is an identifier of a request record."""
    return _REQUEST_ID.fullmatch(text) is not None


def id_time_ms(request_id: str) -> int:
    """Unix milliseconds at which an identifier was made."""
    value = 0
    for digit in request_id[-26:]:
        value = value << 5 | _ALPHABET.index(digit)
    return value >> 80
