"""Who asks? A login of the Connect service, and the keeping of its secret."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field

from pydantic import SecretStr

HIDDEN = "[hidden]"
SHORTEST_TO_HIDE = 4  # hiding a shorter word would blot out half of every text it is looked for in


@dataclass(frozen=True, slots=True)
class Login:
    """A username and its password; neither shows when the login is printed."""

    username: str = field(repr=False)
    password: SecretStr

    def authorization(self) -> str:
        """The value of the Authorization header, in UTF-8 (interface, Authentication 1)."""
        return f"Basic {self._token()}"

    def hide(self, text: str) -> str:
        """The text without this login, in clear or in Base64, should the service or a library echo it."""
        for secret in [*self._secrets(), self.username]:
            text = text.replace(secret, HIDDEN) if len(secret) >= SHORTEST_TO_HIDE else text
        return text

    def hide_in_bytes(self, body: bytes) -> bytes:
        """A body that is kept, without the password; the username may be a word of the text."""
        for secret in self._secrets():
            body = body.replace(secret.encode(), HIDDEN.encode()) if len(secret) >= SHORTEST_TO_HIDE else body
        return body

    def _token(self) -> str:
        return b64encode(f"{self.username}:{self.password.get_secret_value()}".encode()).decode("ascii")

    def _secrets(self) -> list[str]:
        password = self.password.get_secret_value()
        return [self._token(), b64encode(password.encode()).decode("ascii"), password]
