#!/usr/bin/env python3
"""Connections that send the body of a webhook a byte at a time, and come back when they are closed.

usage: slow_sockets.py PORT COUNT [--addresses 1] [--every 1.0]

Runs until it is killed (SIGTERM); then prints how many connections were opened and closed. More than one address: 127.0.0.1, 127.0.0.2, ...
"""
import argparse
import json
import resource
import selectors
import signal
import socket
import time

HEAD = (b"POST /webhook HTTP/1.1\r\nHost: hooks\r\nContent-Type: application/json\r\nX-GitHub-Event: push\r\nX-GitHub-Delivery: slow\r\n"
        b"X-Hub-Signature-256: sha256=" + b"0" * 64 + b"\r\nContent-Length: 8000\r\n\r\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--addresses", type=int, default=1)
    parser.add_argument("--every", type=float, default=1.0)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (options.count + 100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    selector = selectors.DefaultSelector()
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    counts = {"opened": 0, "closed": 0}

    def connect(number):
        s = socket.socket()
        s.settimeout(1)
        s.bind(("127.0.0.%d" % (1 + number % options.addresses), 0))
        try:
            s.connect(("127.0.0.1", options.port))
            s.send(HEAD)
        except OSError:
            s.close()
            return None
        s.setblocking(False)
        counts["opened"] += 1
        selector.register(s, selectors.EVENT_READ, number)
        return s

    open_ones = {number: connect(number) for number in range(options.count)}
    begin = time.monotonic()
    at = 0
    while not stopped:
        for key, _ in selector.select(0.005):
            try:
                alive = bool(key.fileobj.recv(4096))
            except OSError:
                alive = False
            if not alive:
                selector.unregister(key.fileobj)
                key.fileobj.close()
                counts["closed"] += 1
                open_ones[key.data] = None
        # Each sends, or comes back, once every `every` seconds, evenly spread.
        until = int((time.monotonic() - begin) / options.every * options.count)
        for step in range(at, min(until, at + options.count)):
            number = step % options.count
            one = open_ones[number]
            if one is None:
                open_ones[number] = connect(number)
                continue
            try:
                one.send(b"x")
            except OSError:
                pass
        at = until
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
