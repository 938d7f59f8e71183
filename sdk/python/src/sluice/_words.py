"""Error messages without credentials, in a form that ingest accepts."""

from __future__ import annotations

import base64
import binascii
import re

NOT_RECORDED = "[not recorded]"
MAX_ERROR_LENGTH = 2_000
_MAX_LOOKED_THROUGH = 64 * 1024
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")

_CREDENTIAL = re.compile(
    r"_{0,3}(?:[\w-]*api[-_]?key|(?:[a-z\d]+[-_])*(?:authorization"
    r"|(?:auth|access|refresh|bearer|session|security|id)[-_]?token"
    r"|(?:(?:client|webhook)[-_]?)?secret|secret[-_]?(?:access[-_]?)?key"
    r"|(?:admin|service|private|signing)[-_]?key|password|(?:signed)?cookies?))",
    re.IGNORECASE,
)
_PARAMETER_NAME = re.compile(r"(?:[^=]*[-_])?(?:key|token|sig|signature|secret)", re.IGNORECASE)
_USER_IN_WORDS = re.compile(r"\b([a-z][a-z\d+.-]{0,20}://)[^\s/?#\"<>]*@", re.IGNORECASE)
_PARAMETER_IN_WORDS = re.compile(r"([?&;#])([^\s=&;?#/\"'<>]{1,100})=([^\s&;#\"'<>]+)")
_SCHEME_IN_WORDS = re.compile(r"\b(Bearer|Basic) (?![a-z_]+=\"\w)([\w.~+/=|-]{8,})", re.IGNORECASE)
#: No credential has a longer name, and matching long names is slow.
_MAX_NAME_LENGTH = 100


def names_credential(name: str) -> bool:
    """Whether a field of this name holds a credential: ``api_key``, ``apiKey``, ``authorization``."""
    if len(name) > _MAX_NAME_LENGTH:
        return False
    return _CREDENTIAL.fullmatch(_parted(name)) is not None


def words_to_record(words: str) -> str:
    """A text without the credentials in its addresses and schemes."""
    words = _USER_IN_WORDS.sub(rf"\1{NOT_RECORDED}@", words)
    words = _PARAMETER_IN_WORDS.sub(_without_value, words)
    return _SCHEME_IN_WORDS.sub(_without_token, words)


def storable_text(text: str) -> str:
    """At most 2,000 characters, none of which Postgres refuses."""
    return _UNSTORABLE.sub("\ufffd", text[:MAX_ERROR_LENGTH])


def message_of(error: BaseException | str) -> str:
    """An error as it is recorded. Never raises: a program's error may not have a text."""
    try:
        said = str(error)
        words = said if isinstance(error, str) else f"{type(error).__name__}: {said}"
        cause = error.__cause__ if isinstance(error, BaseException) else None
        if cause is not None and str(cause) not in ("", said):
            words += f" ({cause})"
        return storable_text(words_to_record(words[:_MAX_LOOKED_THROUGH]))
    except Exception:  # noqa: BLE001 -- whatever a program's __str__ raises
        return "an error without a message"


def _parted(name: str) -> str:
    return re.sub(r"([a-z\d])([A-Z])", r"\1-\2", name)


def _without_value(found: re.Match[str]) -> str:
    before, name, _value = found.groups()
    is_secret = _PARAMETER_NAME.fullmatch(_parted(name)) is not None or names_credential(name)
    return f"{before}{name}={NOT_RECORDED}" if is_secret else found.group()


def _without_token(found: re.Match[str]) -> str:
    scheme, given = found.groups()
    return f"{scheme} {NOT_RECORDED}" if _is_token(given) else found.group()


def _is_token(given: str) -> bool:
    """``Bearer authentication failed`` contains no token."""
    if re.search(r"[\d=]", given):
        return True
    try:
        decoded = base64.b64decode(given + "=" * (-len(given) % 4)).decode("latin-1")
    except (binascii.Error, ValueError):
        return False
    return re.fullmatch(r"[ -~]*:[ -~]*", decoded) is not None
