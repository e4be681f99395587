#!/usr/bin/env python3
"""A week of the daemon in minutes: looks, pushes, webhooks, jobs on the simulator, nights, and a GitHub that fails now and then.

usage: soak_bench.py [BUILD] [--days 7] [--seconds-per-day 60] [--repositories 8] [--faults 0.05] [--program PROGRAM]
       soak_bench.py [BUILD] --valgrind
       soak_bench.py --judge RESULT.json

Exits with 1 if something grew by more than GROWTH allows, if GitHub was sent an invalid request, or if the daemon did not end by itself; --judge
does the same with a result from before. Prints one JSON object: for each day the median of the daemon's memory (resident; of it anonymous, which is the heap), descriptors, threads,
and the sizes of its state and its stores, and how much they grew after what is kept for three days, the webhooks, had reached its limit.
Mirrors, which grow by what people push, are counted apart. In a day every repository is pushed to three times without a kernel, and four
kernels change; all are looked at each second, webhooks come 20 times a second, and a night begins. The daemon's date runs as fast as the days
(fast_clock.cpp), and it begins as one that has run for months: with 5,000 ended jobs and a hundred tasks of each kernel, the most that it keeps.

With --valgrind the daemon runs under memcheck for one look, one push and one job, and so does every program of ours that it starts for them
(git and compilers do not). Printed is, by program, how many bytes were definitely lost, and where; processes that were killed have no summary.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import threading
import time

from fleet import Fleet, wait_for

FIGURES = ("resident_kib", "anonymous_kib", "descriptors", "threads", "state_kib", "mirrors_kib", "store_kib", "store_log_kib", "trajectories_kib", "trees")
WEBHOOKS_PER_SECOND = 20
KEPT_JOBS, KEPT_TASKS = 5000, 100  # service/store.h, app/optimize.cpp
# From the fifth day to the last, at most; where a figure is small, also so much more (a descriptor of a connection, a page of SQLite).
GROWTH = {"resident_kib": (1.05, 0), "anonymous_kib": (1.10, 256), "descriptors": (1.0, 4), "threads": (1.0, 2), "state_kib": (1.10, 0),
          "store_kib": (1.10, 64), "store_log_kib": (1.10, 512), "trajectories_kib": (1.10, 64)}
TREES_OF_REPOSITORY = 8  # kept, at most (app/workspace.cpp); their number grows to that as commits come
LEAST_DONE = 0.8  # of the jobs and nights that the week asks for
SETTLED = 4  # days, counted from 0: the fifth is the first on which as many webhooks are forgotten as come


def faults_of(result):
    """What is wrong with a result, a line each."""
    days, faults = result["by_day"], []
    if len(days) < SETTLED + 2:
        return ["%d days are too few: the %dth is the first that is compared, with a later one" % (len(days), SETTLED + 1)]
    for name, (factor, more) in GROWTH.items():
        first, last = days[SETTLED][name], days[-1][name]
        if last > first * factor + more:
            faults.append("%s grew from %g on day %d to %g on day %d, more than x %g + %g" % (name, first, SETTLED + 1, last, len(days), factor, more))
    if result["exit_code"] != 0:
        faults.append("the daemon ended with exit code %d" % result["exit_code"])
    if result["forge"]["violations"]:
        faults.append("GitHub was sent %s" % result["forge"]["violations"])
    trees, most = days[-1]["trees"], TREES_OF_REPOSITORY * result["repositories"]
    if trees > most:
        faults.append("%d working trees are kept, of %d at most" % (trees, most))
    for name, of in (("job_finished", 4 * result["days"]), ("night_finished", result["days"] * result["repositories"])):
        if result["counts"][name] < LEAST_DONE * of:
            faults.append("%s: %d of %d: this was no week of work" % (name, result["counts"][name], of))
    return faults


def judge(result):
    faults = faults_of(result)
    for fault in faults:
        print("soak_bench.py: " + fault, file=sys.stderr)
    return 1 if faults else 0


def lost_bytes(report):
    """By the last LEAK SUMMARY of a report; None: there is none, as of what the daemon killed."""
    found = re.findall(r"definitely lost: ([0-9,]+) bytes|no leaks are possible", report)
    return int((found[-1] or "0").replace(",", "")) if found else None


def valgrind(options):
    with tempfile.TemporaryDirectory() as reports:
        wrapper = ["valgrind", "--leak-check=full", "--show-leak-kinds=definite", "--leak-resolution=high", "--errors-for-leak-kinds=definite",
                   "--trace-children=yes", "--trace-children-skip=*git*,*recorder*,*++*,*collect2*,*cc1plus*,*/as,*/ld,*nvcc*", "--log-file=" + reports + "/%p"]
        with Fleet(options.build, options.program, 1, poll=5, wrapper=wrapper) as fleet:
            looks = fleet.logged("refs_moved")
            fleet.change_text(fleet.repositories[0])
            wait_for(lambda: fleet.logged("refs_moved") > looks, 120, "a look")
            fleet.change_kernel(fleet.repositories[0])
            wait_for(lambda: fleet.logged("published") > 0, 1500, "a job: " + fleet.log.read_text(errors="replace")[-3000:])
            code = fleet.stop()
        by_program = {}
        for path in pathlib.Path(reports).iterdir():
            report = path.read_text(errors="replace")
            command = re.search(r"Command: (\S+)(?: (\S+))?", report)
            name = " ".join(filter(None, (os.path.basename(command[1]), command[2]))) if command else "?"
            entry = by_program.setdefault(name, {"processes": 0, "without_summary": 0, "definitely_lost_bytes": 0, "leaks": []})
            lost = lost_bytes(report)
            entry["processes"] += 1
            entry["without_summary"] += lost is None
            entry["definitely_lost_bytes"] += lost or 0
            if lost:
                entry["leaks"] += [line for line in report.splitlines() if re.search(r"definitely lost|by 0x|at 0x", line)][:40]
    lost = sum(entry["definitely_lost_bytes"] for entry in by_program.values())
    print(json.dumps({"exit_code": code, "definitely_lost_bytes": lost, "by_program": by_program}, indent=1))
    return 0 if lost == 0 and code == 0 else 1


def age(fleet):
    """Waits for the first task of every repository, of which the others are copies."""
    fleet.age_store(KEPT_JOBS)
    for name in fleet.repositories:
        fleet.change_kernel(name)
    def begun():
        return len(fleet.trajectories()) == len(fleet.repositories) and all(fleet.finished_tasks(path) > 0 for path in fleet.trajectories())
    wait_for(begun, 1800, "the first tasks")
    for path in fleet.trajectories():
        fleet.age_trajectory(path, KEPT_TASKS)


def live_a_day(fleet, options, day, ended):
    """What people push in a day, evenly spread."""
    pushes = [(fleet.change_text, name) for _ in range(3) for name in fleet.repositories]
    changed = [fleet.repositories[(4 * day + i) % len(fleet.repositories)] for i in range(4)]
    for i, name in enumerate(changed):
        pushes.insert((i + 1) * len(pushes) // (len(changed) + 1), (fleet.change_kernel, name))
    begin = time.monotonic()
    for i, (push, name) in enumerate(pushes):
        if ended.wait(max(0, begin + i * options.seconds_per_day / len(pushes) - time.monotonic())):
            return
        push(name)
    ended.wait(max(0, begin + options.seconds_per_day - time.monotonic()))


def soak(options):
    seconds = options.days * options.seconds_per_day
    with Fleet(options.build, options.program, options.repositories, poll=1, nights="0 3 * * *", faults=options.faults,
               clock_factor=round(24 * 3600 / options.seconds_per_day)) as fleet:
        age(fleet)
        ended, samples = threading.Event(), []

        def sample():
            begin = time.monotonic()
            while not ended.wait(2):
                samples.append({"day": (time.monotonic() - begin) / options.seconds_per_day, **fleet.sample()})
        sampler = threading.Thread(target=sample)
        sampler.start()
        sender = fleet.send_webhooks(WEBHOOKS_PER_SECOND, 0, int(WEBHOOKS_PER_SECOND * seconds))
        try:
            for day in range(options.days):
                live_a_day(fleet, options, day, ended)
                print("day %d: %s" % (day + 1, samples[-1]), file=sys.stderr)
        finally:
            ended.set()
            sampler.join()
        webhooks = json.loads(sender.communicate()[0])
        days = [{name: statistics.median(s[name] for s in samples if int(s["day"]) == day) for name in FIGURES} for day in range(options.days)]
        settled, last = days[min(SETTLED, len(days) - 1)], days[-1]
        counts = {name: fleet.logged(name) for name in ("refs_moved", "detected", "job_started", "job_finished", "published", "night_finished",
                                                        "look_failed", "publish_failed", "dashboard_failed", "job_failed")}
        result = {"days": options.days, "seconds_per_day": options.seconds_per_day, "repositories": options.repositories, "faults": options.faults,
                  "cores": os.cpu_count(), "load_average": os.getloadavg()[0], "counts": counts,
                  "webhooks": {name: webhooks[name] for name in ("sent", "accepted", "failed", "answer_ms")}, "by_day": days,
                  "growth_from_day_%d" % (SETTLED + 1): {name: round(last[name] / settled[name], 3) if settled[name] else None for name in FIGURES},
                  "processor_seconds": samples[-1]["processor_seconds"], "exit_code": fleet.stop()}
        saw = fleet.hub_saw()
        result["forge"] = {"requests": saw["requests"], "violations": saw["violations"],
                           "pull_requests": sum(len(r["pulls"]) for r in saw["repositories"].values())}
    print(json.dumps(result, indent=1))
    return judge(result)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--seconds-per-day", type=float, default=60)
    parser.add_argument("--repositories", type=int, default=8)
    parser.add_argument("--faults", type=float, default=0.05)
    parser.add_argument("--program")
    parser.add_argument("--valgrind", action="store_true")
    parser.add_argument("--judge", metavar="RESULT.json")
    options = parser.parse_args()
    if options.judge:
        with open(options.judge, encoding="utf-8") as file:
            return judge(json.load(file))
    return valgrind(options) if options.valgrind else soak(options)


if __name__ == "__main__":
    sys.exit(main())
