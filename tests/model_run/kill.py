#!/usr/bin/env python3
"""Kills replayed runs at random moments: each one goes on, and ends the same.

  kill.py [--program build/daemon/cli/warpwright] [--kills 100] [--each N] [--minutes M] [--seed 1] [ENTRY...]

Records one run of each entry with the desk (of all, where none is named); then replays them in turn in fresh
repositories, with SIGKILL to the program and its workers after random times of up to half a run, at most N in one run, until so
many kills have happened in all, or so many minutes are over. Prints one JSON object; exit code 1 if a run ended otherwise
than the one that was recorded, or its trajectory has a question twice.
"""
import argparse
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from run import HERE, prepare

IGNORED = ("seconds", "seconds_by_stage", "commit", "task")
IGNORED_OF_CASES = ("host_us", "original_host_us")  # of this machine's processor, by its clock


def outcome(text):
    kernel = json.loads(text)["kernels"][0]
    for case in kernel.get("cases", []):
        for name in IGNORED_OF_CASES:
            case.pop(name, None)
    kernel["drafts"] = [pathlib.Path(draft).name for draft in kernel.get("drafts", [])]  # each in its own repository
    return {name: value for name, value in kernel.items() if name not in IGNORED}


class Entry:
    """A recorded run, and replays of it."""

    def __init__(self, entry, program, place):
        self.entry, self.place, self.name = entry, place, entry["kernel"]
        self.common = [program, "optimize", "--kernel", self.name, "--publish", "branch", "--json", "--quiet"]
        transcripts, config = place / "transcripts", place / "desk.yml"
        place.mkdir()
        config.write_text((HERE / "desk.yml").read_text().replace("DESK", str(HERE / "desk.py")).replace("STATE", f"{place}/state"))
        os.chmod(config, 0o600)
        prepare(entry, place / "first")
        start = time.time()
        recorded = subprocess.run([*self.common, "--config", str(config), "--transcripts", str(transcripts)],
                                  cwd=place / "first", capture_output=True, text=True, check=True)
        self.duration = time.time() - start
        self.expected = outcome(recorded.stdout)
        self.replay = place / "replay.yml"
        self.replay.write_text(config.read_text().replace(
            f"transport: command, command: [{HERE / 'desk.py'}], price: unmetered", f"transport: replay, folder: {transcripts}"))
        os.chmod(self.replay, 0o600)
        self.kills, self.runs, self.wrong = 0, 0, []

    def run(self, draw, kills):
        """One replay, killed at most `kills` times."""
        self.runs += 1
        folder = self.place / f"run-{self.runs}"
        prepare(self.entry, folder)
        while True:
            child = subprocess.Popen([*self.common, "--config", str(self.replay)], cwd=folder, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True, start_new_session=True)
            try:
                out, _ = child.communicate(timeout=draw.uniform(0, self.duration / 2) if kills > 0 else None)
                break
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.communicate()
                self.kills += 1
                kills -= 1
        if child.returncode != 0 or outcome(out) != self.expected:
            self.wrong.append({"run": self.runs, "exit_code": child.returncode, "outcome": out[-2000:]})
        with sqlite3.connect(folder / ".git/warpwright/trajectory.sqlite") as trajectory:
            twice = trajectory.execute("SELECT count(*) - count(DISTINCT candidate) FROM step WHERE kind = 'ask'").fetchone()[0]
        if twice:
            self.wrong.append({"run": self.runs, "asked_twice": twice})
        shutil.rmtree(folder)

    def row(self):
        return {"entry": self.name, "outcome": self.expected["outcome"], "gain": round(self.expected.get("gain", 0), 2),
                "kills": self.kills, "runs": self.runs, "questions": self.expected.get("model", {}).get("questions", 0),
                "evaluations": self.expected["evaluations"], "wrong": self.wrong}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/daemon/cli/warpwright")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--each", type=int, default=9, help="kills in one run at most")
    parser.add_argument("--minutes", type=float, default=1e9, help="no further run is begun after them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("entry", nargs="*")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    chosen = [e for e in json.loads((HERE / "entries.json").read_text()) if not options.entry or e["kernel"] in options.entry]
    draw, end = random.Random(options.seed), time.time() + 60 * options.minutes
    recorded, kills = {}, 0
    with tempfile.TemporaryDirectory() as place:
        for entry in itertools.cycle(chosen):
            if kills >= options.kills or time.time() > end:
                break
            name = entry["kernel"]
            if name not in recorded:
                recorded[name] = Entry(entry, program, pathlib.Path(place) / name)
            before = recorded[name].kills
            recorded[name].run(draw, min(options.each, options.kills - kills))
            kills += recorded[name].kills - before
            print(json.dumps(recorded[name].row()), file=sys.stderr, flush=True)
    rows = [run.row() for run in recorded.values()]
    print(json.dumps({"kills": kills, "runs": sum(row["runs"] for row in rows), "entries": rows}, indent=1))
    return 1 if any(row["wrong"] for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
