"""API-key authentication."""

from dataclasses import dataclass, field
from typing import Final

from starlette.requests import Request

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.api.requests import KEY_HEADER
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.rate_limit import RateLimiter, client_network
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import APIKeys
from faqsvc_embed.service.storage.values import Access

MAX_FAILURES: Final = 60
"""Maximum number of wrong keys of one client network per minute."""


@dataclass(frozen=True)
class APIKeyAuth:
    """Authenticates requests by their API key.

    `failures` counts the wrong keys of each client network. Beyond its limit, no key is looked up.
    """

    keys: APIKeys
    failures: RateLimiter = field(default_factory=lambda: RateLimiter(MAX_FAILURES))

    async def authenticate(self, request: Request, scope: Scope) -> Access:
        """Return the access rights of the request's key, which must have `scope`.

        Raises:
            Problem: there is no key (401); it is unknown, expired or revoked, or lacks the scope (403); its
                network sent too many wrong keys (429).
        """
        key = request.headers.get(KEY_HEADER)
        if not key:
            challenge = {"www-authenticate": f'ApiKey header="{KEY_HEADER}"'}
            detail = f"The header {KEY_HEADER} must carry an API key"
            raise Problem(401, "missing-key", detail, headers=challenge)
        network = client_network(request.scope.get("client"))
        if network is not None and (wait := self.failures.wait(network)):
            raise self.failures.problem(wait)
        access = await run_blocking(self.keys.verify, key)
        if access is None:
            if network is not None:
                self.failures.hit(network)
            raise Problem(403, "unknown-key", f"The API key in {KEY_HEADER} is unknown, expired or revoked")
        request.state.faqsvc_key_id = access.key_id  # for the access log
        self.keys.note_use(access.key_id or "")
        require_scope(access, scope)
        return access


def require_scope(access: Access, scope: Scope) -> None:
    """Raise Problem (403) unless a key has a scope."""
    if not access.may(scope):
        detail = f"The API key has the scope {access.scope!r}; this needs {scope!r}"
        raise Problem(403, "missing-scope", detail)
