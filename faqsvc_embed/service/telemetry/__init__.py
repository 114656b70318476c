"""What the service reports to its operator: an access log, metrics, request ids and outages.

`requests.py` is the place to begin: it observes each request, and passes what it saw to the access log and
the metrics. Logging itself is configured by `logs.py`, which only `faqsvc serve` calls.
"""

from starlette.applications import Starlette
from starlette.routing import Route

from faqsvc_embed.service.telemetry.logs import log_access
from faqsvc_embed.service.telemetry.requests import ObservedRequests, Observer


def observe(app: Starlette, *, access_log: bool, metrics: bool) -> None:
    """Give the requests of an application ids, log them, and serve `/metrics`, as wanted."""
    observers = list[Observer]()
    if access_log:
        observers.append(log_access)
    if metrics:
        from faqsvc_embed.service.telemetry.metrics import ServiceMetrics

        service_metrics = ServiceMetrics()
        observers.append(service_metrics.observe)
        app.router.routes.append(Route("/metrics", service_metrics.respond))
    routes = {route.endpoint: route.path for route in app.routes if isinstance(route, Route)}
    app.add_middleware(ObservedRequests, observers=observers, routes=routes)
