"""What can the service do to us? Every kind of trouble, and the error it must end in."""

from __future__ import annotations

import httpx

from pipelines.connect.errors import (
    ConnectError,
    Forbidden,
    NotFound,
    NotJson,
    Redirected,
    Refused,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unexpected,
    Unreachable,
)
from tests.unit.connect.fake_service import Reply, reply

HTML = b"\xef\xbb\xbf\n <html><body>Maintenance</body></html>"
HEALING: dict[str, tuple[Reply, type[ConnectError]]] = {
    "429": (reply(429), TooManyRequests),
    "500": (reply(500), Unavailable),
    "502": (reply(502), Unavailable),
    "503": (reply(503), Unavailable),
    "504": (reply(504), Unavailable),
    "a time-out": (httpx.ReadTimeout("slow"), Unavailable),
    "a reset": (httpx.ReadError("reset"), Unavailable),
    "a reset socket": (ConnectionResetError("reset"), Unavailable),
    "half a body": (reply(200, b"[1,", end=httpx.RemoteProtocolError("peer closed")), Unavailable),
    "a short body": (reply(200, b"[1]", content_length="9"), Unavailable),
    "a broken gzip": (reply(200, b"\x1f\x8b[1]", content_encoding="gzip"), Unavailable),
    "another compression": (reply(200, b"[1]", content_encoding="br"), Unavailable),
    "no connection": (httpx.ConnectError("refused"), Unreachable),
    "HTML": (reply(200, HTML, content_type="text/html"), NotJson),
    "XML": (reply(200, b"<Rows/>", content_type="application/xml"), NotJson),
    "broken JSON": (reply(200, b"[1,"), NotJson),
    "nothing": (reply(200, b""), NotJson),
    "another 2xx": (reply(204), NotJson),
}
FINAL: dict[str, tuple[Reply, type[ConnectError]]] = {
    "400": (reply(400, b'{"message": "too long"}'), Refused),
    "401": (reply(401), Unauthorized),
    "403": (reply(403), Forbidden),
    "404": (reply(404), NotFound),
    "406": (reply(406), Unexpected),
    "408": (reply(408), Unexpected),
    "418": (reply(418), Unexpected),
    "301": (reply(301, location="https://elsewhere.example/x"), Redirected),
    "304": (reply(304), Redirected),
    "a refusal whose body breaks off": (reply(403, b"no", end=httpx.ReadError("reset")), Forbidden),
}
