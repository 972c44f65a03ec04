"""Codes and tokens of people: one-time refresh tokens in families, as both platforms keep them."""

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

CODE_LIFE_S = 300.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What stands behind a code: who agreed to which scopes, where it goes, PKCE's challenge.

    `install` says that an app was installed, too.
    """

    login: str
    scopes: frozenset[str]
    redirect: str
    challenge: str
    end: float
    install: bool = False


@dataclass(frozen=True, slots=True)
class Issued:
    """A token: whose, for what, until when (unix seconds), and the sign-in it comes from."""

    login: str
    scopes: frozenset[str]
    end: float
    family: str


@dataclass(slots=True)
class Waiting:
    """A device sign-in that waits for its person."""

    scopes: frozenset[str]
    end: float
    login: str = ""
    declined: bool = False


@dataclass(slots=True)
class Grants:
    """All codes and tokens of one platform. A refresh token that comes twice ends its family."""

    prefix: tuple[str, str]
    codes: dict[str, Asked] = field(default_factory=dict[str, Asked])
    access: dict[str, Issued] = field(default_factory=dict[str, Issued])
    refresh: dict[str, Issued] = field(default_factory=dict[str, Issued])
    spent: dict[str, str] = field(default_factory=dict[str, str])
    devices: dict[str, Waiting] = field(default_factory=dict[str, Waiting])

    def code(self, asked: Asked) -> str:
        """A fresh code."""
        code = f"code-{secrets.token_hex(8)}"
        self.codes[code] = asked
        return code

    def take(self, code: str, verifier: str, now: float) -> Asked | None:
        """What a code stands for, once; None for a bad one or a wrong PKCE verifier."""
        asked = self.codes.pop(code, None)
        if asked is None or asked.end <= now:
            return None
        digest = urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")
        return None if asked.challenge and asked.challenge != digest else asked

    def issue(
        self, login: str, scopes: frozenset[str], ends: tuple[float, float], family: str = ""
    ) -> tuple[str, str]:
        """A pair of tokens that end so (unix seconds); without a family a new one begins."""
        family = family or secrets.token_hex(4)
        access, refresh = (f"{prefix}{login}-{secrets.token_hex(8)}" for prefix in self.prefix)
        self.access[access] = Issued(login, scopes, ends[0], family)
        self.refresh[refresh] = Issued(login, scopes, ends[1], family)
        return access, refresh

    def spend(self, refresh: str, now: float) -> tuple[Issued | None, bool]:
        """What a refresh token stands for, once; and whether it was used before."""
        issued = self.refresh.pop(refresh, None)
        if issued is None:
            family = self.spent.get(refresh, "")
            self.end_family(family)
            return None, bool(family)
        self.spent[refresh] = issued.family
        return (issued if issued.end > now else None), False

    def live(self, token: str, now: float) -> Issued | None:
        """What an access token stands for now."""
        issued = self.access.get(token)
        return issued if issued is not None and issued.end > now else None

    def end(self, token: str) -> bool:
        """End the family of an access or refresh token; whether there was one."""
        issued = self.access.get(token) or self.refresh.get(token)
        if issued is None:
            return False
        self.end_family(issued.family)
        return True

    def end_family(self, family: str) -> None:
        """End every token of a sign-in."""
        self._keep(lambda issued: issued.family != family)

    def end_person(self, login: str) -> int:
        """End every token of a person ("" for everybody's); how many access tokens there were."""
        before = len(self.access)
        self._keep(lambda issued: bool(login) and issued.login != login)
        return before - len(self.access)

    def _keep(self, wanted: Callable[[Issued], bool]) -> None:
        self.access = {token: one for token, one in self.access.items() if wanted(one)}
        self.refresh = {token: one for token, one in self.refresh.items() if wanted(one)}
