"""Reports to the operator of the service: an access log, metrics and outages.

Start with `observe` in `requests.py`, which observes each request for the access log and the metrics. It also
configures logging, for `faqsvc serve` only.
"""
