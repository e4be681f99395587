#!/usr/bin/env python3
"""corpus.py BUILD OUT.json [open|held-out] [--device D] [--minutes M] [--jobs N] [--folder F]... [--every K] [--sizes-of-gpus] [--gpus G]

Optimizes every entry of tests/strangers on a device, each in a copy of its folder, and writes what came of it: a line for each
entry, and of all of them how many improved and the geometric mean of the gains, where an entry without a gain counts as 1.
Entries without a case for the device are counted apart. --every K takes each K-th entry only: a sample, and called so.
--sizes-of-gpus gives a simulated device the cases of GPUs, whose time then counts alone: entries are declared with a few elements
for the simulator, where nothing can be gained. --gpus G shares the jobs among the first G GPUs. CORPUS_DIFFS=FOLDER keeps each
answer, each proposed diff and what was tried.
"""
import argparse, concurrent.futures, datetime, hashlib, json, math, os, queue, re, shutil, subprocess, tempfile, time

parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("build"), parser.add_argument("out")
parser.add_argument("part", nargs="?", choices=["open", "held-out"])
parser.add_argument("--device", default="sim:h200")
parser.add_argument("--minutes", type=float, default=1)
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("--every", type=int, default=1)
parser.add_argument("--folder", action="append", default=[])
parser.add_argument("--kernel", action="append", default=[], help="these entries alone")
parser.add_argument("--sizes-of-gpus", action="store_true")
parser.add_argument("--gpus", type=int, default=1)
parser.add_argument("--stop-after", type=float, default=math.inf, help="seconds; entries that were not begun are left out")
options = parser.parse_args()
strangers = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "strangers")
programs = os.path.join(os.path.abspath(options.build), "daemon", "cli")
identity = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def entries():
    """(folder, part, kernel) for each entry, in the order of the folders; folders that are no stranger's are left out."""
    for row in open(f"{strangers}/README.md"):
        if cells := re.match(r"\| `(\S+)` \| (open|held-out|mixed) \|", row):
            folder, kind = cells.groups()
            if options.folder and folder not in options.folder: continue
            names = re.findall(r"^\s*- name: (\S+)", open(f"{strangers}/{folder}/.warpwright.yml").read(), re.M)
            for number, name in enumerate(names, 1):
                part = kind if kind != "mixed" else "held-out" if number % 3 == 0 else "open"
                if options.part in (None, part) and (not options.kernel or name in options.kernel): yield folder, part, name


def optimize(folder, part, kernel):
    device = devices.get()
    try:
        return optimize_on(device, folder, part, kernel)
    finally:
        devices.put(device)


def optimize_on(device, folder, part, kernel):
    row = {"folder": folder, "part": part, "kernel": kernel}
    if time.monotonic() - begun > options.stop_after: return row | {"outcome": "not begun"}
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(f"{strangers}/{folder}", f"{scratch}/r")
        if options.sizes_of_gpus:
            with open(f"{scratch}/r/.warpwright.yml", "r+") as manifest:
                text = manifest.read().replace(", on: [cuda]}", "}").replace(", on: [sim]}", ", on: [sim], weight: 0}")
                manifest.seek(0), manifest.truncate(), manifest.write(text)
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Start"]):
            subprocess.run(["git", "-C", f"{scratch}/r", *words], check=True, env={**os.environ, **identity})
        began = time.monotonic()
        try:
            done = subprocess.run([f"{programs}/warpwright", "optimize", "--json", "--quiet", "--repo", f"{scratch}/r", "--kernel", kernel,
                                   "--device", device, "--cache", f"{cache}/{folder}", "--worker", f"{programs}/warpwright-worker",
                                   "--publish", "branch", "--author", "a <a@b>", "--max-minutes", str(options.minutes)],
                                  capture_output=True, text=True, timeout=60 * options.minutes + 60)
        except subprocess.TimeoutExpired:
            return row | {"outcome": "error", "message": "killed: a minute over its time"}
        row |= {"wall_s": round(time.monotonic() - began, 1), "exit": done.returncode}
        try:
            answer = json.loads(done.stdout)["kernels"][0]
        except (ValueError, KeyError, IndexError):
            return row | {"outcome": "error", "message": done.stderr[-600:]}
        for key in ("outcome", "gain", "evaluations", "rounds", "message", "roofline_pct", "cases", "methods", "computes", "modelled"):
            if key in answer: row[key] = answer[key]
        if options.keep:
            open(f"{options.keep}/{folder}-{kernel}.json", "w").write(json.dumps(answer, indent=1))
            tried = subprocess.run([f"{programs}/warpwright", "show", "--repo", f"{scratch}/r", "--device", device, "--task", "1"],
                                   capture_output=True, text=True)
            open(f"{options.keep}/{folder}-{kernel}.txt", "w").write(tried.stdout + tried.stderr)
        if answer["outcome"] == "improved" and options.keep:
            text = subprocess.run(["git", "-C", f"{scratch}/r", "diff", "HEAD", answer["branch"] or "HEAD"], capture_output=True, text=True).stdout
            open(f"{options.keep}/{folder}-{kernel}.diff", "w").write(text)
        return row


def sums(rows):
    counted = [row for row in rows if row["outcome"] not in ("not begun",)]
    gains = [max(1.0, row.get("gain") or 1.0) if row["outcome"] == "improved" else 1.0 for row in counted]
    return {"entries": len(counted), "improved": sum(row["outcome"] == "improved" for row in counted),
            "errors": sum(row["outcome"] == "error" for row in counted),
            "gain_geometric_mean": round(math.exp(sum(map(math.log, gains)) / len(gains)), 3) if gains else None}


devices = queue.Queue()
for number in range(options.jobs):
    devices.put(options.device if options.gpus == 1 else f"{options.device}:{number % options.gpus}")
options.keep = os.environ.get("CORPUS_DIFFS")
if options.keep: os.makedirs(options.keep, exist_ok=True)
begun = time.monotonic()
with tempfile.TemporaryDirectory() as cache, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
    chosen = list(entries())[:: options.every]
    # In an order drawn once and for all, so that what --stop-after leaves out belongs to every folder.
    drawn = sorted(chosen, key=lambda entry: hashlib.sha256("/".join(entry).encode()).digest())
    of_entry = dict(zip(drawn, pool.map(lambda entry: optimize(*entry), drawn)))
    rows = [of_entry[entry] for entry in chosen]
report = {"command": "tests/bench/corpus.py BUILD OUT.json " + " ".join(filter(None, [
              options.part, f"--device {options.device}", f"--minutes {options.minutes:g}", f"--jobs {options.jobs}",
              f"--every {options.every}" if options.every > 1 else "", f"--gpus {options.gpus}" if options.gpus > 1 else "",
              "--sizes-of-gpus" if options.sizes_of_gpus else ""])),
          "date": datetime.date.today().isoformat(), "seconds": round(time.monotonic() - begun),
          **{part.replace("-", "_"): sums([row for row in rows if row["part"] == part]) for part in ("open", "held-out")}, "rows": rows}
json.dump(report, open(options.out, "w"), indent=1)
for row in rows: print(f"{row['folder']:14} {row['kernel']:28} {row['outcome']:10} {row.get('gain') or 1:7.2f} {row.get('wall_s', 0):6.1f} s  {str(row.get('message', ''))[:110]}")
print(json.dumps({key: report[key] for key in ("seconds", "open", "held_out")}))
