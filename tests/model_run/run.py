#!/usr/bin/env python3
"""Optimizes the entries of entries.json with the answers of the desk, each in a repository of its own.

  run.py [--program build/daemon/cli/warpwright] [--device sim:h200|cuda] [--entries FILE] [--minutes M] [--jobs N] [--gpus G]
         [--transcripts DIR] [--results FILE] [--exchange DIR --work DIR] [ENTRY...]

On the simulator the case `mid` of entries.json is what counts; on a GPU the entry's own `production`. With --transcripts
every question and answer is kept, for transport: replay. With --exchange nobody sits at the desk: questions wait in DIR,
and the same command goes on once they are answered, from the state in --work, which may have moved to another machine.
--gpus shares the jobs among the first G GPUs, each of which its runs take for the only one.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import shutil
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
WHO = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z", "GIT_AUTHOR_NAME": "a",
       "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}


GPUS = queue.Queue()  # of each job


def prepare(entry, folder):
    shutil.copytree(HERE.parent / "strangers" / entry["folder"], folder)
    if "case" in entry:
        manifest = folder / ".warpwright.yml"
        text = manifest.read_text()
        cases = text.index("cases:\n", text.index(f"name: {entry['kernel']}\n")) + len("cases:\n")
        manifest.write_text(text[:cases] + f"      - {entry['case']}\n" + text[cases:])
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "Start"]):
        subprocess.run(["git", *command], cwd=folder, check=True, env={**os.environ, **WHO})


def operator_file(options, work):
    text = (HERE / "desk.yml").read_text()
    if options.exchange:
        text = text.replace("transport: command, command: [DESK], price: unmetered",
                            f"transport: offline, folder: {pathlib.Path(options.exchange).resolve()}")
    config = work / "operator.yml"
    config.write_text(text.replace("DESK", str(HERE / "desk.py")).replace("STATE", f"{work}/state"))
    os.chmod(config, 0o600)
    return config


def optimize(options, entry, work, config):
    folder = work / entry["kernel"]
    if not folder.exists():
        prepare(entry, folder)
    command = [options.program, "optimize", "--kernel", entry["kernel"], "--device", options.device, "--config", str(config),
               "--cache", str(work / "cache" / entry["kernel"]), "--state", str(work / "state" / entry["kernel"]), "--publish", "branch",
               "--author", "a <a@b>", "--json", *(["--max-minutes", str(options.minutes)] if options.minutes else [])]
    if options.transcripts:
        command += ["--transcripts", str(pathlib.Path(options.transcripts).resolve())]
    start = time.time()
    gpu = GPUS.get()
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                              env={**os.environ, **({"CUDA_VISIBLE_DEVICES": gpu} if options.gpus > 1 else {})})
    finally:
        GPUS.put(gpu)
    if options.logs:
        (pathlib.Path(options.logs) / (entry["kernel"] + ".log")).write_text(done.stderr)
    kernel = json.loads(done.stdout)["kernels"][0] if done.stdout else {"outcome": "error", "message": done.stderr[-500:]}
    return {"kernel": entry["kernel"], "outcome": kernel["outcome"], "gain": round(kernel.get("gain", 0), 2),
            "modelled": kernel.get("modelled"), "device": options.device, "rounds": kernel.get("rounds"),
            "evaluations": kernel.get("evaluations"), "questions": kernel.get("model", {}).get("questions", 0),
            "cases": [{k: c[k] for k in ("name", "original_us", "us", "gain_low", "gain_high") if k in c}
                      for c in kernel.get("cases", [])],
            "message": kernel["message"], "seconds": round(time.time() - start, 1)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", default="build/daemon/cli/warpwright")
    arguments.add_argument("--device", default="sim:h200")
    arguments.add_argument("--entries", default=str(HERE / "entries.json"))
    arguments.add_argument("--minutes", type=float)
    arguments.add_argument("--jobs", type=int, default=1)
    arguments.add_argument("--gpus", type=int, default=1)
    arguments.add_argument("--transcripts")
    arguments.add_argument("--results")
    arguments.add_argument("--logs")
    arguments.add_argument("--exchange")
    arguments.add_argument("--work")
    arguments.add_argument("entry", nargs="*")
    options = arguments.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    rows = []
    for job in range(options.jobs):
        GPUS.put(str(job % options.gpus))
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = pathlib.Path(options.work or scratch).resolve()
        work.mkdir(parents=True, exist_ok=True)
        config = operator_file(options, work)
        entries = [e for e in json.loads(pathlib.Path(options.entries).read_text()) if not options.entry or e["kernel"] in options.entry]
        running = [pool.submit(optimize, options, entry, work, config) for entry in entries]
        for done in concurrent.futures.as_completed(running):
            row = done.result()
            rows.append(row)
            print(row["kernel"], row["outcome"], row["gain"], row["message"], flush=True)
            if options.results:
                pathlib.Path(options.results).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
