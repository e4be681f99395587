#!/usr/bin/env python3
"""The whole daemon under webhooks, with repositories that move, and if asked beside connections that send their bodies slowly.

usage: load_bench.py [BUILD] [--rate 500] [--seconds 60] [--runs 2] [--repositories 10] [--slow 0] [--slow-addresses 1] [--program PROGRAM]

Prints one JSON object. Real processes: `warpwright serve` (PROGRAM, or that of BUILD), the stand-in for GitHub, and a sender that measures from
the moment when each request was due. Every second one repository moves, so that webhooks lead to looks. The runs follow one another
in one daemon: what it keeps of one shows in its memory after the next.
"""
import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

from fleet import Fleet, wait_for


def one_run(fleet, options, first, count):
    ended = threading.Event()

    def move():
        number = 0
        while not ended.wait(1):
            fleet.change_text(fleet.repositories[number % len(fleet.repositories)])
            number += 1
    mover = threading.Thread(target=move)
    mover.start()
    sender = fleet.send_webhooks(options.rate, first, count)
    sent = json.loads(sender.communicate()[0])
    ended.set()
    mover.join()
    return sent


def stored(fleet):
    with sqlite3.connect(f"file:{fleet.state}/daemon.sqlite?mode=ro", uri=True) as db:
        return db.execute("SELECT count(*), coalesce(sum(state < 2), 0) FROM deliveries WHERE id LIKE '00000000-%'").fetchone()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--repositories", type=int, default=10)
    parser.add_argument("--slow", type=int, default=0)
    parser.add_argument("--slow-addresses", type=int, default=1)
    parser.add_argument("--program")
    options = parser.parse_args()
    count = int(options.rate * options.seconds)
    with Fleet(options.build, options.program, options.repositories) as fleet:
        slow = None
        if options.slow:
            slow = subprocess.Popen([sys.executable, Path(__file__).parent / "slow_sockets.py", str(fleet.webhook_port), str(options.slow), "--addresses",
                                     str(options.slow_addresses)], stdout=subprocess.PIPE, text=True)
        warm_up = int(options.rate * 3)
        one_run(fleet, options, 0, warm_up)
        result = {"rate_per_second": options.rate, "seconds": options.seconds, "repositories": options.repositories, "slow_sockets": options.slow,
                  "slow_addresses": options.slow_addresses if options.slow else 0, "cores": os.cpu_count(),
                  "load_average_before": os.getloadavg()[0], "warm": fleet.sample(), "runs": []}
        for run in range(options.runs):
            sent = one_run(fleet, options, warm_up + run * count, count)
            result["runs"].append({**sent, "after": fleet.sample()})
        if slow:
            slow.send_signal(signal.SIGTERM)
            result["slow"] = json.loads(slow.communicate()[0])
        try:
            wait_for(lambda: stored(fleet)[1] == 0, 30, "every delivery is handled")
        except RuntimeError as late:
            result["late"] = str(late)
        accepted = sum(run["accepted"] for run in result["runs"])
        result["lost"] = max(0, accepted - stored(fleet)[0])
        result["looks_after_moves"] = fleet.logged("refs_moved")
        result["load_average_after"] = os.getloadavg()[0]
        result["exit_code"] = fleet.stop()
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
