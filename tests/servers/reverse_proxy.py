"""A reverse proxy with TLS on loopback, which serves a server under a path: nginx where it is
installed, else a small one of the standard library."""

from __future__ import annotations

import http.client
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from servers.closed_port import closed_port
from waiting import until

_NGINX = """
daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
    location {prefix}/ {{
      proxy_pass {url}/;
      proxy_http_version 1.1; proxy_buffering off;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Prefix {prefix};
    }}
  }}
}}
"""


@contextmanager
def reverse_proxy(url: str, prefix: str, folder: Path) -> Iterator[str]:
    """The https address under which `url` is served. folder: an empty one."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl here")
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    made += ["-subj", "/CN=localhost", "-keyout", "key.pem"]
    subprocess.run([openssl, *made, "-out", "cert.pem"], cwd=folder, check=True, stderr=-3)
    nginx = shutil.which("nginx")
    with closed_port() as port:
        served = (url, prefix, folder, port)
        with _nginx(nginx, *served) if nginx else _own(*served):
            until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0)
            yield f"https://127.0.0.1:{port}{prefix}"


@contextmanager
def _nginx(nginx: str, url: str, prefix: str, folder: Path, port: int) -> Iterator[None]:
    folder.chmod(0o755)
    setting = _NGINX.format(folder=folder, port=port, prefix=prefix, url=url)
    (folder / "nginx.conf").write_text(setting)
    command = [nginx, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _own(url: str, prefix: str, folder: Path, port: int) -> Iterator[None]:
    to = urlsplit(url)

    class Passing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            upstream = http.client.HTTPConnection(to.hostname or "", to.port)
            headers = {**self.headers, "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": prefix}
            upstream.request(self.command, self.path.removeprefix(prefix), body, headers)
            answer = upstream.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("connection", "close")
            self.end_headers()
            shutil.copyfileobj(answer, self.wfile)
            upstream.close()

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", port), Passing)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
