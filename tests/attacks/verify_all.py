#!/usr/bin/env python3
"""verify_all.py BUILD OUT.jsonl [open|held]: `warpwright verify` of every candidate of index.tsv on the simulator.

One line of JSON for each: exit code 0 is accepted, 1 refused. The sums are printed.
"""
import collections, json, os, re, shutil, subprocess, sys, tempfile

build, out, which = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
here = os.path.dirname(os.path.abspath(__file__))
files, kernel = {}, ""
for line in open(f"{here}/originals/.warpwright.yml"):
    if name := re.match(r"\s*- name: (\S+)", line): kernel = name.group(1)
    if file := re.match(r"\s*file: (\S+)", line): files[kernel] = file.group(1)
identity = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
sums = collections.Counter()
with tempfile.TemporaryDirectory() as folder, open(out, "w") as lines:
    repository = f"{folder}/repository"
    shutil.copytree(f"{here}/originals", repository)
    git = lambda *words: subprocess.run(["git", "-C", repository, *words], check=True, env={**os.environ, **identity})
    git("init", "-q"), git("add", "-A"), git("commit", "-qm", "Originals")
    for row in open(f"{here}/index.tsv"):
        part, kind, name, kernel, sentence, held = row.rstrip("\n").split("\t")
        if which not in ("", held): continue
        git("checkout", "-q", "--", ".")
        shutil.copy(f"{here}/{part}/{kind}/{name}.cu", f"{repository}/{files[kernel]}")
        done = subprocess.run([f"{build}/daemon/cli/warpwright", "verify", "--json", "--quiet", "--repo", repository,
                               "--kernel", kernel, "--device", "sim:h200", "--cache", f"{folder}/cache",
                               "--worker", f"{build}/daemon/cli/warpwright-worker"], capture_output=True, text=True)
        sums[part, kind, held, done.returncode] += 1
        lines.write(json.dumps({"part": part, "kind": kind, "name": name, "held": held, "exit": done.returncode,
                                "verdict": done.stdout or done.stderr}) + "\n")
for key in sorted(sums): print(*key, sums[key])
