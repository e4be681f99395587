#!/usr/bin/env python3
"""The whole daemon under webhooks, with repositories that move, and if asked beside connections that send their bodies slowly.

usage: load_bench.py [BUILD] [--rate 500] [--seconds 60] [--runs 2] [--repositories 10] [--slow 0] [--slow-addresses 1] [--program PROGRAM]

Prints one JSON object, and exits with 1 if a webhook was lost, refused or handled late, if the 99th percentile of the answers is above
10 ms (50 ms beside slow connections), or if the heap grew by more than a fifth from the first run to the last. Real processes: `warpwright serve` (PROGRAM, or that of BUILD), the stand-in for GitHub, and a sender that measures from
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


def faults_of(result):
    faults, first, last = [], result["runs"][0], result["runs"][-1]
    most_ms = 50 if result["slow_sockets"] else 10
    for number, run in enumerate(result["runs"], 1):
        if run["failed"] or run["accepted"] != run["sent"]:
            faults.append("run %d: %d of %d webhooks accepted" % (number, run["accepted"], run["sent"]))
        if run["answer_ms"]["p99"] > most_ms:
            faults.append("run %d: the 99th percentile is %.1f ms, more than %d ms" % (number, run["answer_ms"]["p99"], most_ms))
    if result["lost"] or "late" in result:
        faults.append("%d webhooks lost%s" % (result["lost"], ", " + result["late"] if "late" in result else ""))
    if last["after"]["anonymous_kib"] > 1.2 * first["after"]["anonymous_kib"] + 1024:
        faults.append("the heap grew from %d to %d KiB" % (first["after"]["anonymous_kib"], last["after"]["anonymous_kib"]))
    if result["exit_code"] != 0:
        faults.append("the daemon ended with exit code %d" % result["exit_code"])
    return faults


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
    faults = faults_of(result)
    for fault in faults:
        print("load_bench.py: " + fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
