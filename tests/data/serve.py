"""serve.py FOLDER MODES LOG: an HTTP server for tests. Prints its port, serves FOLDER on 127.0.0.1, and writes a line
"PATH RANGE" to LOG for every request. The n-th request is served in the n-th of the comma-separated MODES, later ones in
the last: ok, no-range, truncate (closes after half), stall (sends half and waits), corrupt (flips a bit), 404, endless
(sends the body again and again), huge (announces 10 GB), loop (redirects to itself)."""
import http.server
import itertools
import pathlib
import re
import sys
import time

folder, modes, log = pathlib.Path(sys.argv[1]), sys.argv[2].split(","), pathlib.Path(sys.argv[3])
mode_of_request = itertools.chain(modes, itertools.repeat(modes[-1]))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        mode = next(mode_of_request)
        wanted = self.headers.get("Range", "")
        with log.open("a") as out:
            out.write(f"{self.path} {wanted}".rstrip() + "\n")
        file = folder / self.path.lstrip("/")
        if mode == "404" or not file.is_file():
            return self.send_error(404)
        if mode == "loop":
            self.send_response(302)
            self.send_header("Location", self.path)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        body = bytearray(file.read_bytes())
        if mode in ("endless", "huge"):
            return self.send_forever(bytes(body), announced=mode == "huge")
        if mode == "corrupt":
            body[len(body) // 2] ^= 1
        first = self.start(body, wanted if mode != "no-range" else "")
        if first is None:
            return
        rest = bytes(body[first:])
        self.wfile.write(rest if mode not in ("truncate", "stall") else rest[: len(rest) // 2])
        if mode == "stall":
            self.wfile.flush()
            time.sleep(600)

    def send_forever(self, body, announced):
        self.send_response(200)
        if announced:
            self.send_header("Content-Length", str(10**10))
        self.end_headers()
        try:
            while True:
                self.wfile.write(body)
        except OSError:  # the client has closed the connection
            pass

    # The headers; returns where the body starts, or None where there is nothing to send.
    def start(self, body, wanted):
        match = re.fullmatch(r"bytes=(\d+)-", wanted)
        first = int(match[1]) if match else 0
        if first and first >= len(body):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(body)}")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(body) - first))
        self.end_headers()
        return first

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
