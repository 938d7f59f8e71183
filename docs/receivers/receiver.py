"""A receiver of Sluice's webhooks, for Python 3.9 or later without packages.

Run: WEBHOOK_SECRET=whsec_... PORT=8080 python3 receiver.py
"""

import hashlib
import hmac
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"].encode()
# After a rotation the second header has the old secret's signature until the overlap ends.
SIGNATURES = ("X-Service-Signature", "X-Service-Signature-Previous")
MAX_BODY_BYTES = 1_048_576
# Delivery is at least once. Keep these outside the process, for as long as you expect replays.
seen = set()


def is_signed(body: bytes, header: str) -> bool:
    """Signed over the raw bytes: parsing and serialising would change them."""
    expected = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), header.encode("latin-1"))


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        if length > MAX_BODY_BYTES:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(length)
        if not any(is_signed(body, self.headers.get(name, "")) for name in SIGNATURES):
            return self.answer(401)
        event = json.loads(body)
        # Answer at once and work afterwards: a receiver has 10 s.
        self.answer(204)
        if event["id"] not in seen:
            seen.add(event["id"])
            print(event["event"], event["id"], flush=True)

    def answer(self, status: int) -> None:
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args) -> None:
        """Only what was received is printed."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
    print("listening", flush=True)
    server.serve_forever()
