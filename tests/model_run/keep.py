#!/usr/bin/env python3
"""Keeps the answers of an exchange for the desk, and tells what was asked.

  keep.py EXCHANGE RESULTS.json OUT.json [KERNEL...]

EXCHANGE is the folder, RESULTS what run.py wrote. For each kernel that is named the answers replace
those in answers/: the plans of all rounds in planner.json, each change in optimizer-METHOD.json and each repair in
repairer-METHOD.json, with code in .cu files beside them. OUT gets a row for each entry of RESULTS, with how many questions
were asked, and the bytes of prompts and answers (a token is about four; an exchange counts none).
"""
import json
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent


def prompt_of(question):
    return "\n".join(part["text"] for part in question["system"] + question["user"])


def keep_change(folder, name, answer):
    for number, function in enumerate(answer["functions"]):
        file = f"{name}-{number + 1}.cu"
        (folder / file).write_text(function.pop("text"))
        function["file"] = file
    (folder / f"{name}.json").write_text(json.dumps(answer, indent=1) + "\n")


def keep(folder, asked):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    plans = {}
    # In the order of the rounds: later ones have more behind them.
    for role, prompt, answer in sorted(asked, key=lambda one: len(re.findall(r"^\| (?:original|version \d+) \|", one[1], re.M))):
        if role == "planner":
            for plan in answer["plans"]:
                plans.setdefault(plan["method"], plan)
        elif answer.get("functions") or answer.get("lines"):
            keep_change(folder, f"{role}-{re.search(r'^Method: (.+)$', prompt, re.M).group(1)}", answer)
    (folder / "planner.json").write_text(json.dumps({"none": "", "plans": list(plans.values())}, indent=1) + "\n")


def entry_of(kernel):
    """As the manifest of its author has it."""
    for one in (one for entries in sorted(HERE.glob("*entries.json")) for one in json.loads(entries.read_text())):
        if one["kernel"] == kernel:
            manifest = (HERE.parent / "strangers" / one["folder"] / ".warpwright.yml").read_text()
            return re.search(r"entry: (\S+)", manifest[manifest.index(f"name: {kernel}\n"):]).group(1)
    sys.exit(f"no list of entries has {kernel}")


def main():
    asked = {}
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.question.json")):
        question = json.loads(file.read_text())["question"]
        prompt = prompt_of(question)
        answer = file.with_name(file.name.replace(".question.", ".answer."))
        entry = re.search(r'^The entry is "([\w:]+)"', prompt, re.M).group(1)
        asked.setdefault(entry, []).append((question["role"], prompt, json.loads(answer.read_text())["text"] if answer.exists() else ""))
    results = json.loads(pathlib.Path(sys.argv[2]).read_text())
    for row in results:
        mine = asked.get(entry_of(row["kernel"]), [])
        roles = [role for role, _, _ in mine]
        row["questions"] = {role: roles.count(role) for role in sorted(set(roles))}
        row["prompt_bytes"] = sum(len(prompt.encode()) for _, prompt, _ in mine)
        row["answer_bytes"] = sum(len(text.encode()) for _, _, text in mine)
        if row["kernel"] in sys.argv[4:]:
            keep(HERE / "answers" / entry_of(row["kernel"]), [(r, p, json.loads(t)) for r, p, t in mine if t])
    pathlib.Path(sys.argv[3]).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
