"""Lets in whoever holds the token, from the workshop's own pages alone: it executes code."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256
from typing import Final
from urllib.parse import urlencode

from flask import Flask, Response, abort, redirect, request

TOKEN_BYTES: Final = 32
PARAMETER: Final = "token"
OWN_PAGES: Final = ("same-origin", "none")
"""What browsers say in Sec-Fetch-Site of our own pages, and of an address that was typed."""

REFUSED: Final = (
    "this page is for whoever started the workshop: open the address that `cw workshop` printed"
)


class Gate:
    """The token of one workshop, and the cookie that stands for it."""

    def __init__(self, host: str, token: str = "") -> None:
        """Guard what is served at `host`, 127.0.0.1 and a port; without a token, draw one."""
        self.host = host
        self.token = token or secrets.token_urlsafe(TOKEN_BYTES)
        # Cookies do not know ports: two workshops of one machine have one each.
        self.cookie = f"workshop-{host.rpartition(':')[2]}"
        self.value = hmac.new(self.token.encode(), host.encode(), sha256).hexdigest()

    def guard(self, app: Flask) -> None:
        """Ask everybody who comes, before anything else is done."""
        app.before_request(self._admit)
        app.after_request(self._close)

    def address(self, path: str) -> str:
        """Return the address of a page for whoever may come."""
        return f"http://{self.host}{path}?{urlencode({PARAMETER: self.token})}"

    def _admit(self) -> Response | None:
        """Refuse, with 403, whoever does not come from here; take the token for a cookie."""
        if request.headers.get("Origin", f"http://{self.host}") != f"http://{self.host}":
            abort(403, REFUSED)
        if request.headers.get("Sec-Fetch-Site", "none") not in OWN_PAGES:
            abort(403, REFUSED)
        if request.method == "GET" and self._is_token(request.args.get(PARAMETER, "")):
            return self._with_cookie()
        if not hmac.compare_digest(request.cookies.get(self.cookie, "").encode(), self._bytes):
            abort(403, REFUSED)
        return None

    @property
    def _bytes(self) -> bytes:
        return self.value.encode()

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self.token.encode())

    def _with_cookie(self) -> Response:
        """Lead to the same page without the token, which shall not stay in the address."""
        answer = redirect("/" + request.path.lstrip("/"), 303)
        answer.set_cookie(self.cookie, self.value, httponly=True, samesite="Strict")
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["Referrer-Policy"] = "no-referrer"
        return answer  # type: ignore[return-value]

    def _close(self, response: Response) -> Response:
        """Let no other site show a page of ours, or read an answer."""
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        response.headers["X-Frame-Options"] = "DENY"
        return response
