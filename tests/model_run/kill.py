#!/usr/bin/env python3
"""Kills a replayed run at random moments: each one goes on, and ends the same.

  kill.py [--program build/daemon/cli/warpwright] [--kills 100] [--minutes M] [--seed 1] [ENTRY]

Records one run of the entry with the desk; then replays it in fresh repositories, with SIGKILL to the program and its
workers after a random time, until so many kills have happened, or so many minutes are over. Prints one JSON object; exit
code 1 if a run ended otherwise than the one that was recorded, or its trajectory has a question twice.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from run import HERE, prepare

IGNORED = ("seconds", "seconds_by_stage", "commit", "task")


def outcome(text):
    kernel = json.loads(text)["kernels"][0]
    kernel["drafts"] = [pathlib.Path(draft).name for draft in kernel.get("drafts", [])]  # each in its own repository
    return {name: value for name, value in kernel.items() if name not in IGNORED}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/daemon/cli/warpwright")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=1e9, help="no further run is begun after them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("entry", nargs="?", default="scan_rows")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    entry = next(e for e in json.loads((HERE / "entries.json").read_text()) if e["kernel"] == options.entry)
    draw = random.Random(options.seed)
    wrong, kills, runs = [], 0, 0
    with tempfile.TemporaryDirectory() as place:
        transcripts = pathlib.Path(place) / "transcripts"
        config = pathlib.Path(place) / "desk.yml"
        config.write_text((HERE / "desk.yml").read_text().replace("DESK", str(HERE / "desk.py")).replace("STATE", place + "/state"))
        os.chmod(config, 0o600)
        common = [program, "optimize", "--kernel", entry["kernel"], "--publish", "branch", "--json", "--quiet"]
        first = pathlib.Path(place) / "first"
        prepare(entry, first)
        start = time.time()
        recorded = subprocess.run([*common, "--config", str(config), "--transcripts", str(transcripts)], cwd=first,
                                  capture_output=True, text=True, check=True)
        duration = time.time() - start
        expected = outcome(recorded.stdout)
        replay = pathlib.Path(place) / "replay.yml"
        replay.write_text(config.read_text().replace(
            f"transport: command, command: [{HERE / 'desk.py'}], price: unmetered", f"transport: replay, folder: {transcripts}"))
        os.chmod(replay, 0o600)
        end = time.time() + 60 * options.minutes
        while kills < options.kills and time.time() < end:
            runs += 1
            folder = pathlib.Path(place) / f"run-{runs}"
            prepare(entry, folder)
            while True:
                child = subprocess.Popen([*common, "--config", str(replay)], cwd=folder, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, text=True, start_new_session=True)
                try:
                    out, _ = child.communicate(timeout=draw.uniform(0, 1.5 * duration) if kills < options.kills else None)
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.communicate()
                    kills += 1
                    continue
                break
            if child.returncode != 0 or outcome(out) != expected:
                wrong.append({"run": runs, "exit_code": child.returncode, "outcome": out[-2000:]})
            with sqlite3.connect(folder / ".git/warpwright/trajectory.sqlite") as trajectory:
                twice = trajectory.execute("SELECT count(*) - count(DISTINCT candidate) FROM step WHERE kind = 'ask'").fetchone()[0]
            if twice:
                wrong.append({"run": runs, "asked_twice": twice})
            shutil.rmtree(folder)
    print(json.dumps({"entry": options.entry, "kills": kills, "runs": runs, "questions": expected["model"]["questions"],
                      "evaluations": expected["evaluations"], "gain": round(expected["gain"], 2), "wrong": wrong}, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
