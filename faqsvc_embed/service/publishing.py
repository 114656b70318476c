"""POST /api/v1/faq: who has a key stores an FAQ and is told how to show it."""

import hashlib
import html
import json
import re
from dataclasses import dataclass
from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.fields import MAX_BODY
from faqsvc_embed.errors import FAQNotFound, PublishRejected
from faqsvc_embed.service.accepting import accepted
from faqsvc_embed.service.addresses import Addresses, page_address, record_address
from faqsvc_embed.service.asking import ask
from faqsvc_embed.service.keyed import KeyCheck, read_body
from faqsvc_embed.service.problems import Problem
from faqsvc_embed.service.storage import AlreadyUsed, NotTheOwner, Retry, Storage
from faqsvc_embed.service.submission import Submission, parse_submission

_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")


@dataclass(frozen=True, kw_only=True)
class Publishing:
    """The handler of publications, with what it may spend on one.

    `max_body` is in bytes, `body_timeout` is the number of seconds in which the whole body must have come.
    """

    storage: Storage
    addresses: Addresses
    key_check: KeyCheck
    max_body: int = MAX_BODY
    body_timeout: float = 30.0

    async def __call__(self, request: Request) -> Response:
        """Check the key, then the form, then the contents: a stranger's body is never looked at."""
        owner = await self.key_check.owner(request)
        check_form(request)
        base = self.addresses.base(request)
        body = await read_body(request, most=self.max_body, timeout=self.body_timeout)
        retry = _retry(request, body)
        try:
            submission = await run_in_threadpool(parse_submission, body)
            slug = await self._publish(submission, owner, retry)
        except PublishRejected as error:
            raise Problem(422, str(error), problems=error.problems) from None
        except FAQNotFound as error:
            raise Problem(404, str(error)) from None
        except NotTheOwner as error:
            raise Problem(403, str(error)) from None
        except AlreadyUsed as error:
            raise Problem(422, str(error), problems=[str(error)]) from None
        return self._created(base, slug)

    async def _publish(self, submission: Submission, owner: str, retry: Retry | None) -> str:
        publish = partial(self.storage.publish, submission, owner=owner, retry=retry)
        return await ask(publish, self.key_check.writers)

    @staticmethod
    def _created(base: str, slug: str) -> Response:
        publication = {
            "slug": slug,
            "faqUrl": page_address(base, slug),
            "install": {
                "npm": "npm install @faqsvc/react",
                "component": f'<FAQ slug="{html.escape(slug)}" />',
            },
        }
        return Response(
            json.dumps(publication, ensure_ascii=False),
            201,
            {
                "cache-control": "no-store",
                "location": record_address(base, slug),
                "x-content-type-options": "nosniff",
            },
            "application/json",
        )


def check_form(request: Request) -> None:
    """Take JSON that is neither compressed nor in another charset than its own, UTF-8 (RFC 8259).

    Raises:
        Problem: the body is something else (415), or the client takes no JSON (406).
    """
    accepted(request, "application/json")
    media_type, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.replace(" ", "").replace('"', "").lower()
    if media_type.strip().lower() != "application/json" or charset not in ("", "charset=utf-8"):
        raise Problem(
            415, "the body is to be application/json, in UTF-8", headers={"accept": "application/json"}
        )
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Problem(415, "the body is to be uncompressed", headers={"accept-encoding": "identity"})


def _retry(request: Request, body: bytes) -> Retry | None:
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    if _IDEMPOTENCY_KEY.fullmatch(key) is None:
        problem = "Idempotency-Key is to be 1 to 255 visible ASCII characters"
        raise Problem(422, problem, problems=[problem])
    return Retry(key, hashlib.sha256(body).hexdigest())
