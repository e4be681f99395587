#!/usr/bin/env python3
"""What an idle daemon costs, and how long a push takes to become a running job. Real processes, local repositories.

usage: daemon_bench.py PROGRAM [--repositories 100] [--seconds 60] [--pushes 5]

Prints one JSON object. The program is started as `warpwright serve` with its own configuration; its child processes run
the same program.
"""
import argparse
import datetime
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

KERNEL = """extern "C" __global__ void scale(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * %d.0f;
}
"""
MANIFEST = """version: 1
policy: {max_rounds: 1}
kernels:
  - name: scale
    file: scale.cu
    entry: scale
    launch: {grid: ["(n + 255) / 256"], block: [256]}
    args:
      in: {buffer: f32, shape: [n], role: in}
      out: {buffer: f32, shape: [n], role: out}
      n: {scalar: i32}
    cases:
      - {name: small, n: 65536}
"""


def git(folder, *arguments):
    subprocess.run(["git", "-C", str(folder), "-c", "user.name=Bench", "-c", "user.email=bench@example.org", *arguments], check=True, stdout=subprocess.DEVNULL)


def make_repository(folder, number):
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / ".warpwright.yml").write_text(MANIFEST)
    (folder / "scale.cu").write_text(KERNEL % number)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0


def wait_for(condition, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise SystemExit("nothing happened within %d s" % seconds)


def lines(log, event, since=0):
    found = []
    for line in log.read_text(errors="replace").splitlines()[since:]:
        if line.startswith("{"):
            entry = json.loads(line)
            if entry.get("event") == event:
                found.append(entry)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--repositories", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pushes", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ww-bench-") as temporary:
        root = Path(temporary)
        repositories = [root / "repos" / str(i) for i in range(options.repositories)]
        for number, folder in enumerate(repositories):
            make_repository(folder, number + 2)
        config = root / "config.yml"
        config.write_text("\n".join(["version: 1", f"state: {root}/state", "devices: [sim:h200]", 'listen: {status: "127.0.0.1:0"}',
                                     "log: {format: json, level: info}", "repositories:"]
                                    + [f"  - {{url: {folder}, publish: branch}}" for folder in repositories]) + "\n")
        log = root / "log"
        with log.open("wb") as stream:
            daemon = subprocess.Popen([options.program.resolve(), "serve", "--config", config, "--cache", root / "cache"], stderr=stream)
        try:
            wait_for(lambda: lines(log, "started"), 20)
            wait_for(lambda: len(list((root / "state/repos").glob("*/mirror.git/packed-refs"))) + len(list((root / "state/repos").glob("*/mirror.git/refs/remotes/origin/main")))
                     >= options.repositories, 120)
            time.sleep(5)
            before, start = cpu_seconds(daemon.pid), time.monotonic()
            time.sleep(options.seconds)
            percent = 100 * (cpu_seconds(daemon.pid) - before) / (time.monotonic() - start)
            memory = resident_mib(daemon.pid)
            waits, looks, plans = [], [], []
            for number in range(options.pushes):
                folder = repositories[number % len(repositories)]
                (folder / "scale.cu").write_text(KERNEL % (1000 + number))
                git(folder, "add", "-A")
                began = len(lines(log, "job_started"))
                git(folder, "commit", "-q", "-m", "change")
                start, wall = time.monotonic(), time.time()
                wait_for(lambda: len(lines(log, "job_started")) > began, 60)
                waits.append(time.monotonic() - start)
                seen = datetime.datetime.fromisoformat(lines(log, "refs_moved")[-1]["ts"].replace("Z", "+00:00")).timestamp()
                looks.append(seen - wall)
                plans.append(lines(log, "detected")[-1]["seconds"])
                wait_for(lambda: len(lines(log, "published")) > number, 300)
            daemon.send_signal(signal.SIGTERM)
            start = time.monotonic()
            code = daemon.wait(30)
            stop = time.monotonic() - start
        except SystemExit:
            print(log.read_text(errors="replace")[-4000:])
            raise
        finally:
            daemon.kill()
        print(json.dumps({"repositories": options.repositories, "idle_cpu_percent": round(percent, 3), "resident_mib": round(memory, 1),
                          "push_to_running_s": {"median": round(statistics.median(waits), 3), "worst": round(max(waits), 3)} if waits else None,
                          "of_that_until_seen_s": round(statistics.median(looks), 3) if waits else None,
                          "of_that_plan_s": round(statistics.median(plans), 3) if waits else None,
                          "exit_code": code, "stop_s": round(stop, 2)}))


if __name__ == "__main__":
    main()
