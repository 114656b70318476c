"""The metrics of the service in the format of Prometheus.

Each process has its own counters. If several share a port, set PROMETHEUS_MULTIPROC_DIR to an empty
directory: then each returns the metrics of all (see the documentation of prometheus-client).
"""

import os
from functools import partial
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
    multiprocess,
)
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from faqsvc_embed.service.http.access_log import Outcome
from faqsvc_embed.service.http.threads import database_outages, write_outages

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

# All applications of a process share its database metrics, as they share its outages. Of several processes,
# the one that used the database last knows best.
_gauge: Final = partial(Gauge, registry=None, multiprocess_mode="mostrecent")
_failures: Final = Counter("faqsvc_database_failures", "Database calls without a response", registry=None)
_up: Final = _gauge("faqsvc_database_up", "1 while the database responds")
_writable: Final = _gauge("faqsvc_database_writable", "0 after a write that was not accepted, until one is")


def _report(works: Gauge, is_working: bool) -> None:
    works.set(is_working)
    _failures.inc(not is_working)


for _outages, _works in ((database_outages, _up), (write_outages, _writable)):
    _works.set(1)
    _outages.report = partial(_report, _works)


class ServiceMetrics:
    """The metrics of one application: requests, its database and its process. It adds their route."""

    def __init__(self, app: Starlette) -> None:
        app.router.routes.append(Route("/metrics", self.respond))
        routes = (route for route in app.routes if isinstance(route, Route))
        self._routes: dict[object, str] = {route.endpoint: route.path for route in routes}
        self._collectors = CollectorRegistry()
        self._requests = Counter(
            "faqsvc_http_requests_total",
            "Requests by route, method and status",
            ["route", "method", "status"],
            registry=self._collectors,
        )
        self._duration = Histogram(
            "faqsvc_http_request_duration_seconds",
            "Time from the head of a request to the end of its response",
            ["route"],
            buckets=BUCKETS,
            registry=self._collectors,
        )
        for collector in (_failures, _up, _writable, ProcessCollector(registry=None)):
            self._collectors.register(collector)

    def observe(self, scope: Scope, outcome: Outcome) -> None:
        """Count a request by its route, such as `/api/v1/faq/{slug}`: there are few routes and many paths."""
        route = self._routes.get(scope.get("endpoint"), "(none)")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._requests.labels(route, method, str(outcome.status)).inc()
        self._duration.labels(route).observe(outcome.seconds)

    async def respond(self, _: Request) -> Response:
        """Return the metrics, as text."""
        collectors = self._collectors
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            collectors = CollectorRegistry()
            multiprocess.MultiProcessCollector(collectors)  # type: ignore[no-untyped-call]
        headers = {"cache-control": "no-store", "content-type": MEDIA_TYPE}
        return Response(generate_latest(collectors), headers=headers)
