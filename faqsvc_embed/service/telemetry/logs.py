"""The log of the service, as text or as JSON, and its access log."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final, Literal

from faqsvc_embed.errors import masked
from faqsvc_embed.service.telemetry.requests import Exchange, request_id

LogFormat = Literal["text", "json"]

MAX_FIELD: Final = 500
"""Characters of a path or a user agent in a line."""

access_logger: Final = logging.getLogger("faqsvc_embed.service.access")


def configure_logging(log_format: LogFormat = "text") -> None:
    """Send all log lines of this process to stderr. Only a command, which owns its process, may call this."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JSONFormatter() if log_format == "json" else TextFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("faqsvc_embed").setLevel(logging.INFO)


def log_access(exchange: Exchange) -> None:
    """Log a request, in a form close to the combined log of web servers."""
    fields = {
        "method": exchange.method,
        "path": masked(exchange.path)[:MAX_FIELD],
        "status": exchange.status,
        "client": exchange.client,
        "user_agent": masked(exchange.user_agent)[:MAX_FIELD],
        "key": exchange.key_id,
        "bytes": exchange.sent_bytes,
        "ms": round(exchange.seconds * 1000, 2),
    }
    access_logger.info(
        "%s %s %s %d %d %.2fms %s%s",
        exchange.client or "unix",
        exchange.method,
        _line(fields["path"]),
        exchange.status,
        exchange.sent_bytes,
        exchange.seconds * 1000,
        json.dumps(fields["user_agent"]),
        f" key {exchange.key_id}" if exchange.key_id else "",
        extra={"http": fields},
    )


class TextFormatter(logging.Formatter):
    """Time, level and message in one line, with the id of the request; a traceback follows."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        id_ = request_id.get()
        request = f" [{id_}]" if id_ else ""
        line = f"{_time(record)} {record.levelname} {record.name}{request} {_line(record.getMessage())}"
        return line if record.exc_info is None else f"{line}\n{self.formatException(record.exc_info)}"


class JSONFormatter(logging.Formatter):
    """One JSON object a line, for collectors of logs."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        entry: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if id_ := request_id.get():
            entry["request_id"] = id_
        if http := getattr(record, "http", None):
            entry["http"] = http
        if record.exc_info is not None:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry)  # ASCII only, so that no character in a record can end the line


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _line(text: object) -> str:
    """Return text that cannot end its line or steer a terminal."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in str(text))
