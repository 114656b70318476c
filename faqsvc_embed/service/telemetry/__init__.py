"""Reports to the operator of the service: an access log, metrics and outages.

Start with `requests.py`, which observes each request for the access log and the metrics. It also
configures logging, for `faqsvc serve` only.
"""

from starlette.applications import Starlette

from faqsvc_embed.service.telemetry.requests import ObservedRequests, Observer, log_access


def observe(app: Starlette, *, access_log: bool, metrics: bool) -> None:
    """With `access_log`, log each request; with `metrics`, serve `/metrics`."""
    observers: list[Observer] = [log_access] if access_log else []
    if metrics:
        from faqsvc_embed.service.telemetry.metrics import ServiceMetrics

        observers.append(ServiceMetrics(app).observe)
    if observers:
        app.add_middleware(ObservedRequests, observers=observers)
