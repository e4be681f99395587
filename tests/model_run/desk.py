#!/usr/bin/env python3
"""Answers what agents ask of a language model about the entries of entries.json, from the files in answers/.

They were written in the role of the model, from the prompts alone: ENTRY/planner.json has the plans, one for each round,
ENTRY/optimizer.json or optimizer-METHOD.json the change with its code in .cu files beside it, ENTRY/repairer-N.json or
repairer-METHOD.json a repair.

  desk.py                            a prompt on stdin, its answer on stdout: `transport: command` of an operator's file
  desk.py EXCHANGE PROGRAM [--close] answers every open question of an exchange by `PROGRAM exchange answer`; with --close
                                     what is open ends: no more plans, failed versions are abandoned, nothing is changed
"""
import json
import pathlib
import re
import subprocess
import sys

ANSWERS = pathlib.Path(__file__).resolve().parent / "answers"
NOTHING = {"none": "nothing else is expected to gain 1 %", "plans": []}
CLOSED = {
    "Planner": {"none": "the time of this run is over", "plans": []},
    "Optimizer": {"summary": "nothing", "functions": [], "lines": [], "parameters": []},
    "Repairer": {"quote": "", "cause": "the time of this run is over", "abandon": "the time of this run is over", "summary": "nothing",
                 "functions": [], "lines": []},
}


def evidence_of(prompt):
    values = {name: float(value) for name, value in re.findall(r"^- (\w+) = ([-+.\deE]+)", prompt, re.M)}
    for absent in re.findall(r"^- = 0 \(no\): (.*)$", prompt, re.M):
        values.update({name: 0.0 for name in absent.split(", ")})
    return values


def plan(entry, prompt):
    answer = json.loads((entry / "planner.json").read_text())
    values = evidence_of(prompt)
    for one in answer["plans"]:
        if re.search(r"^\| [^|]* \| %s \|" % one["method"], prompt, re.M):
            continue  # it was tried
        one.setdefault("kernels", [])  # the older answers name none
        one["evidence"] = [{"field": e["field"], "value": values[e["field"]]} for e in one["evidence"] if e["field"] in values]
        one["evidence"] = one["evidence"] or [{"field": "launches", "value": values["launches"]}]
        return {"none": "", "plans": [one]}
    return NOTHING


def change(entry, name):
    answer = json.loads((entry / name).read_text())
    for function in answer["functions"]:
        function["text"] = (entry / function.pop("file")).read_text()
    return answer


def answer(prompt):
    found = re.search(r'^The entry is "([\w:]+)"', prompt, re.M)
    entry = ANSWERS / (found.group(1) if found else "")
    role = re.search(r"You are the (\w+) of a team", prompt).group(1)
    if not found or not entry.is_dir():
        return NOTHING if role == "Planner" else None
    if role == "Planner":
        return plan(entry, prompt)
    method = re.search(r"^Method: (\w+)", prompt, re.M).group(1)
    tries = len(re.findall(r"^\| [^|]* \| %s \|" % method, prompt, re.M))
    names = {"Optimizer": [f"optimizer-{method}.json", "optimizer.json"],
             "Repairer": [f"repairer-{tries}.json", f"repairer-{method}.json", "repairer.json"]}
    for name in names.get(role, []):
        if (entry / name).exists():
            return change(entry, name)
    return None


def closed(prompt):
    return CLOSED.get(re.search(r"You are the (\w+) of a team", prompt).group(1))


def answer_all(exchange, program, answer):
    for file in sorted(pathlib.Path(exchange).glob("*.question.json")):
        identity = file.name.split(".")[0]
        if (file.parent / f"{identity}.answer.json").exists():
            continue
        prompt = subprocess.run([program, "exchange", "show", exchange, identity], capture_output=True, text=True, check=True)
        given = answer(prompt.stdout)
        if given is None:
            print(f"{identity[:12]}: nobody at the desk knows an answer")
            continue
        done = subprocess.run([program, "exchange", "answer", exchange, identity, "--model", "desk"], input=json.dumps(given),
                              capture_output=True, text=True)
        print((done.stdout or done.stderr).strip())


if __name__ == "__main__":
    if len(sys.argv) > 2:
        answer_all(sys.argv[1], sys.argv[2], closed if sys.argv[3:] == ["--close"] else answer)
    else:
        print(json.dumps(answer(sys.stdin.read())))
