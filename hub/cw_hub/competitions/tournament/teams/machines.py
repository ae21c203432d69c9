"""Machines that hosts prepare for teams: addresses, and deployment keys."""

from __future__ import annotations

from base64 import b64decode
from typing import Final

from cw.errors import UsageError

NO_SSH_KEY: Final = "This is not a public SSH key"
PRIVATE_KEY: Final = "This is a private key: never paste it anywhere"

LONGEST_MACHINE: Final = 120
LONGEST_KEY: Final = 4096

KEY_KINDS: Final = (
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
)


def check_machine(machine: str) -> None:
    """Raise UsageError unless a text is a valid machine address or ""."""
    if len(machine) > LONGEST_MACHINE or not machine.isprintable() or " " in machine:
        raise UsageError(f"a machine is an address of at most {LONGEST_MACHINE} characters")


def read_ssh_key(text: str) -> str:
    """Return a public key on one line, or ""; raise UsageError if it is invalid."""
    key = " ".join(text.split())
    if "PRIVATE KEY" in key.upper() or key.startswith("PuTTY-User-Key-File"):
        raise UsageError(PRIVATE_KEY)
    if not key:
        return ""
    kind, _, rest = key.partition(" ")
    body, _, comment = rest.partition(" ")
    if len(key) > LONGEST_KEY or not key.isprintable() or kind not in KEY_KINDS:
        raise UsageError(NO_SSH_KEY)
    try:
        data = b64decode(body, validate=True)
    except ValueError:
        raise UsageError(NO_SSH_KEY) from None
    # Key data begins with its kind, prefixed by the kind's length in four bytes.
    prefix = len(kind).to_bytes(4, "big") + kind.encode()
    if not data.startswith(prefix) or len(data) < len(prefix) + 32 or not comment.isascii():
        raise UsageError(NO_SSH_KEY)
    return key
