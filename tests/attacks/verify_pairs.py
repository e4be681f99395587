#!/usr/bin/env python3
"""verify_pairs.py BUILD OUT.jsonl [FOLDER] [open|held] [-jN] [NAME...]: `warpwright verify` of every candidate of a folder on the simulator.

FOLDER is one of pairs and pairs2 to pairs8; -jN judges N at a time. Each folder of its wrong/ and right/ is a repository of its own: original.cu and candidate.cu are its
kernel.cu before and after a change. Every third number is held. One line of JSON for each: exit code 0 is accepted, 1 refused. The
sums are printed.
"""
import collections, concurrent.futures, json, os, shutil, subprocess, sys, tempfile, time

build, out, words = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
folder = words.pop(0) if words and words[0].startswith("pairs") else "pairs"
which = words.pop(0) if words and words[0] in ("open", "held") else ""
jobs = int(words.pop(0)[2:]) if words and words[0].startswith("-j") else 1
names = words
here = os.path.dirname(os.path.abspath(__file__))
identity = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
sums = collections.Counter()


def judge(kind, name, held):
    pair, repository = f"{here}/{folder}/{kind}/{name}", f"{scratch}/{kind}-{name}"
    os.mkdir(repository)
    shutil.copy(f"{pair}/.warpwright.yml", repository), shutil.copy(f"{pair}/original.cu", f"{repository}/kernel.cu")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Original"]):
        subprocess.run(["git", "-C", repository, *words], check=True, env={**os.environ, **identity})
    shutil.copy(f"{pair}/candidate.cu", f"{repository}/kernel.cu")
    began = time.monotonic()
    done = subprocess.run([f"{build}/daemon/cli/warpwright", "verify", "--json", "--quiet", "--repo", repository, "--device", "sim:h200",
                           "--cache", f"{scratch}/cache", "--worker", f"{build}/daemon/cli/warpwright-worker"], capture_output=True, text=True)
    return {"kind": kind, "name": name, "held": held, "exit": done.returncode, "seconds": round(time.monotonic() - began, 1),
            "verdict": done.stdout or done.stderr}


pairs = [(kind, name, "held" if int(name[:2]) % 3 == 0 else "open")
         for kind in ("wrong", "right") for name in sorted(os.listdir(f"{here}/{folder}/{kind}"))]
chosen = [pair for pair in pairs if which in ("", pair[2]) and (not names or pair[1] in names)]
with tempfile.TemporaryDirectory() as scratch, open(out, "w") as lines, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    for answer in pool.map(lambda pair: judge(*pair), chosen):
        sums[answer["kind"], answer["held"], answer["exit"]] += 1
        lines.write(json.dumps(answer) + "\n")
        lines.flush()
for key in sorted(sums): print(*key, sums[key])
