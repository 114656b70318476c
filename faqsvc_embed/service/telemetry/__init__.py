"""Reports to the operator of the service: an access log, metrics, request ids and outages.

Start with `requests.py`, which observes each request for the access log and the metrics. It also
configures logging, for `faqsvc serve` only.
"""

from starlette.applications import Starlette
from starlette.routing import Route

from faqsvc_embed.service.telemetry.requests import ObservedRequests, Observer, log_access


def observe(app: Starlette, *, access_log: bool, metrics: bool) -> None:
    """Give requests ids; with `access_log`, log each request; with `metrics`, serve `/metrics`."""
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
