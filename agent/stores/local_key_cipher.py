"""Cipher with a key in a local file: AES-256-GCM, the context bound in as associated data."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from agent.errors import Misconfigured
from agent.jsontext import canonical

_FORMAT = b"\x01"
_ID_SIZE = 4
_NONCE_SIZE = 12
_KEY_SIZE = 32
_NONCE_AT = len(_FORMAT) + _ID_SIZE
_HEAD_SIZE = _NONCE_AT + _NONCE_SIZE


class LocalKeyCipher:
    """Seals with the key in the file `path`, which is made with mode 0600 when it is absent.

    A box is format (1 byte), key id (4), nonce (12), then ciphertext and tag; the key id tells a
    later rotation which key to take. Losing the file loses what was sealed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._key: tuple[bytes, AESGCM] | None = None

    async def seal(self, data: bytes, context: Mapping[str, str]) -> bytes:
        """Encrypt; the box opens only under an equal context.

        Raises:
            Misconfigured: the key file can not be used.
        """
        key_id, key = await self._load()
        head = _FORMAT + key_id
        nonce = os.urandom(_NONCE_SIZE)
        return head + nonce + key.encrypt(nonce, data, head + _canonical(context))

    async def open(self, box: bytes, context: Mapping[str, str]) -> bytes:
        """Decrypt what was sealed under an equal context.

        Raises:
            Misconfigured: another context or key, a changed box, or a key file that can not be
                used.
        """
        key_id, key = await self._load()
        head, nonce = box[:_NONCE_AT], box[_NONCE_AT:_HEAD_SIZE]
        if len(box) < _HEAD_SIZE or head != _FORMAT + key_id:
            raise Misconfigured(f"sealed with another key than {self._path.name} holds")
        try:
            return key.decrypt(nonce, box[_HEAD_SIZE:], head + _canonical(context))
        except InvalidTag as error:
            raise Misconfigured("sealed for another context, or changed since") from error

    async def _load(self) -> tuple[bytes, AESGCM]:
        if self._key is None:
            self._key = await asyncio.to_thread(_read_or_make, self._path)
        return self._key


def _canonical(context: Mapping[str, str]) -> bytes:
    return canonical(context).encode()


def _read_or_make(path: Path) -> tuple[bytes, AESGCM]:
    try:
        if not path.exists():
            _make(path)
        if path.stat().st_mode & 0o077:
            raise Misconfigured(f"others may read the key file {path.name}: chmod 600 it")
        data = bytes.fromhex(path.read_text("ascii"))
    except (OSError, ValueError) as error:
        raise Misconfigured(f"the key file {path.name} can not be used: restore it") from error
    if len(data) != _ID_SIZE + _KEY_SIZE:
        raise Misconfigured(f"the key file {path.name} is damaged: restore it")
    return data[:_ID_SIZE], AESGCM(data[_ID_SIZE:])


def _make(path: Path) -> None:
    """Write a fresh key. Of two processes one wins, and both then read the winner's file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secrets.token_bytes(_ID_SIZE + _KEY_SIZE).hex())
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(part, path)
    except FileExistsError:
        return
    finally:
        part.unlink()
