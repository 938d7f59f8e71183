"""What is outside: a model provider, and an API that takes records."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Optional, Tuple


class _QuietServer(ThreadingHTTPServer):
    # With the default of 5, some of 20 connections at once may be refused, and clients try again.
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that have read enough reset their connection."""


class Server:
    """An HTTP server on a free port; ``answer`` writes each answer."""

    def __init__(self, answer: Callable[[BaseHTTPRequestHandler, bytes], None]) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # One segment for head and body: two wait 40 ms for a delayed acknowledgement.
            wbufsize = 65_536

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                try:
                    answer(self, body)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            do_GET = do_POST

            def log_message(self, *args: Any) -> None:
                pass

        self._server = _QuietServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def send_json(handler: BaseHTTPRequestHandler, status: int, body: Any, **headers: str) -> None:
    data = json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


def send_chunks(
    handler: BaseHTTPRequestHandler,
    kind: str,
    chunks: List[str],
    break_at: Optional[int] = None,
    pause_s: float = 0.0,
) -> None:
    """A chunked answer; its connection breaks before the chunk ``break_at``."""
    handler.send_response(200)
    handler.send_header("content-type", kind)
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    for at, chunk in enumerate(chunks):
        if at == break_at:
            handler.close_connection = True
            return
        data = chunk.encode()
        handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        handler.wfile.flush()
        time.sleep(pause_s)
    handler.wfile.write(b"0\r\n\r\n")


class Receiver(Server):
    """Takes records as the API does. ``decide`` gives a status for a record, ``refuse`` one for all posts."""

    def __init__(self) -> None:
        self.taken: List[Dict[str, Any]] = []
        self.texts: List[str] = []
        self.paths: List[str] = []
        self.keys: List[Optional[str]] = []
        self.decide: Callable[[Dict[str, Any]], int] = lambda _record: 202
        self.refuse: Optional[Tuple[int, Dict[str, Any]]] = None
        self.delay_s = 0.0
        super().__init__(self._answer)

    def _answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        time.sleep(self.delay_s)
        self.paths.append(handler.path)
        self.keys.append(handler.headers.get("x-service-key"))
        self.texts.append(body.decode())
        if self.refuse is not None:
            send_json(handler, *self.refuse)
            return
        posted = json.loads(body)
        results = [self._take(record) for record in posted.get("records", [posted])]
        if "records" in posted:
            send_json(handler, 200, {"results": results})
        else:
            send_json(handler, results[0].get("status_code", 202), results[0])

    def _take(self, record: Dict[str, Any]) -> Dict[str, Any]:
        status = self.decide(record)
        if status == 202:
            self.taken.append(record)
            return {"id": record["id"], "status": "queued"}
        return {"status_code": status, "detail": "no", "code": "X"}
