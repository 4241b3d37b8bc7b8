"""Text as it is stored in files: UTF-8, with or without a byte-order mark."""

from __future__ import annotations

from coebl.core.errors import InputError


def decode(data: bytes) -> str:
    """The text of a file's bytes, or an `InputError` that names the first byte that is not text."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_text(error.start) from None
    if "\0" in text:
        raise _not_text(data.index(0))
    return text


def encode(text: str) -> bytes:
    """The bytes of a text, or an `InputError` that names what cannot be written."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        wrong = error.object[error.start]
        raise InputError(f"a name or label holds {wrong!r}, which is not a character; replace it.") from None


def _not_text(byte: int) -> InputError:
    return InputError(f"byte {byte} is not text; accepted: text in UTF-8. Save the file as UTF-8.")
