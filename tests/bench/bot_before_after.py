#!/usr/bin/env python3
"""What the daemon and the Action did before, and do now, where nobody looks at them for months: the same scenarios with any build.

usage: bot_before_after.py [BUILD] [--program PROGRAM] [--source SOURCE] [--only NAME]...
       bot_before_after.py --compare BEFORE.json AFTER.json

Prints one JSON object: for each scenario counts of what happened, and no opinion on them; README.md says what they should be. BUILD has the
stand-in for GitHub. PROGRAM is another build's `warpwright`, its worker beside it; SOURCE its checkout, of which the Action's scripts are run.
--compare prints both results and a row for each figure of them.

  replay     one comment `/warpwright retry`, delivered by five webhooks with ids of their own: jobs that were started
  conflict   main changes a comment beside the kernel of an open pull request: whether it merges, and what is said there
  foreign    somebody commits to the branch and the kernel changes twice: comments, and whether the old gain is in the title
  merged     main gets what the pull request has: jobs that were started
  action     each way in which a step fails: exit code, lines `::error` with a file, a remedy in the summary, outputs
  config     operators' files that `serve` ends with: what `config check --secrets --operator` says of them, both as the same user
  mistakes   exit codes of what the user did wrong, of which none may be 3
  dirty      `optimize` in a work tree with uncommitted changes: whether it says so
"""
import argparse
import hashlib
import hmac
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import fleet

HEADERS = {"Accept": "application/vnd.github+json", "Content-Type": "application/json", "User-Agent": "bot_before_after", "X-GitHub-Api-Version": "2022-11-28"}
BRANCH = "warpwright/row_sum"
SETTLE = 20  # seconds for what should not happen, or may never
OUTPUTS = ("result", "improved", "kernels")


class World:
    """One daemon with one repository, whose kernel has an open pull request."""

    def __init__(self, options):
        self.fleet = fleet.Fleet(options.build, options.program, 1, poll=1)

    def __enter__(self):
        self.fleet.__enter__()
        self.name = self.fleet.repositories[0]
        self.fleet.change_kernel(self.name)
        fleet.wait_for(lambda: self.branch() and self.ask("pulls"), 400, "a pull request: " + self.fleet.log.read_text(errors="replace")[-2000:])
        self.settle()
        return self

    def __exit__(self, *exception):
        self.fleet.__exit__(*exception)

    def ask(self, path, body=None, token="bot"):
        address = f"http://127.0.0.1:{self.fleet.hub_port}/api/v3/repos/{self.name}/{path}"
        data = json.dumps(body).encode() if body is not None else None
        with urllib.request.urlopen(urllib.request.Request(address, data, {**HEADERS, "Authorization": "Bearer " + token})) as answer:
            return json.load(answer)

    def settle(self):
        """Until no job runs, and has not for a while: what should not happen must not be missed."""
        quiet = time.monotonic()
        until = quiet + 600
        while time.monotonic() - quiet < SETTLE and time.monotonic() < until:
            if self.fleet.logged("job_started") != self.fleet.logged("job_finished") + self.fleet.logged("job_failed"):
                quiet = time.monotonic()
            time.sleep(0.5)

    def branch(self):
        done = subprocess.run(["git", "--git-dir", self.fleet.root / "hub" / (self.name + ".git"), "rev-parse", "-q", "--verify", "refs/heads/" + BRANCH],
                              stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def merges(self):
        done = subprocess.run(["git", "--git-dir", self.fleet.root / "hub" / (self.name + ".git"), "merge-tree", "--write-tree", "main", BRANCH],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode == 0

    def pull(self):
        return self.ask("pulls?state=all")[0]

    def comments(self):
        return [comment["body"] for comment in self.ask("issues/%d/comments" % self.pull()["number"])]

    def deliver(self, event, payload, delivery):
        body = json.dumps(payload).encode()
        signature = "sha256=" + hmac.new(fleet.SECRET.encode(), body, hashlib.sha256).hexdigest()
        request = urllib.request.Request(f"http://127.0.0.1:{self.fleet.webhook_port}/webhook", body, {
            "Content-Type": "application/json", "X-GitHub-Event": event, "X-GitHub-Delivery": delivery, "X-Hub-Signature-256": signature})
        with urllib.request.urlopen(request) as answer:
            return answer.status

    def commit_on_branch(self):
        index = self.fleet.root / "by-hand"
        git = self.fleet.git
        git(self.name, "read-tree", "refs/heads/" + BRANCH, index=index)
        blob = git(self.name, "hash-object", "-w", "--stdin", text="mine\n")
        git(self.name, "update-index", "--add", "--cacheinfo", f"100644,{blob},NOTES", index=index)
        tree = git(self.name, "write-tree", index=index)
        git(self.name, "update-ref", "refs/heads/" + BRANCH, git(self.name, "commit-tree", tree, "-m", "by hand", "-p", "refs/heads/" + BRANCH))


def replay(options):
    with World(options) as world:
        started = world.fleet.logged("job_started")
        number = world.pull()["number"]
        comment = world.ask(f"issues/{number}/comments", {"body": "/warpwright retry row_sum"}, "person")
        owner, name = world.name.split("/")
        payload = {"action": "created", "issue": {"number": number, "pull_request": {"url": "x"}, "user": comment["user"]}, "comment": comment,
                   "repository": {"full_name": world.name, "name": name, "owner": {"login": owner}}, "sender": comment["user"]}
        for delivery in range(5):
            world.deliver("issue_comment", payload, "0000-%d" % delivery)
            world.settle()
        return {"deliveries": 5, "jobs_started": world.fleet.logged("job_started") - started}


def conflict(options):
    with World(options) as world:
        before = world.branch()
        text = fleet.kernel(world.fleet.versions[world.name])
        for remark in ("// A thread for each row.\n", "// A thread for each row of the matrix.\n"):
            world.fleet.commit(world.name, {"src/row_sum.cu": text.replace("static __global__", remark + "static __global__", 1)})
            time.sleep(3)
            world.settle()
        return {"remarks": 2, "merges": world.merges(), "branch_moved": world.branch() != before, "comments": len(world.comments()),
                "title": world.pull()["title"]}


def foreign(options):
    with World(options) as world:
        world.commit_on_branch()
        for _ in range(2):
            world.fleet.change_kernel(world.name)
            time.sleep(3)
            world.settle()
        return {"comments": len(world.comments()), "title": world.pull()["title"]}


def merged(options):
    with World(options) as world:
        started = world.fleet.logged("job_started")
        world.fleet.git(world.name, "update-ref", "refs/heads/main", "refs/heads/" + BRANCH)
        time.sleep(3)
        world.settle()
        return {"jobs_started": world.fleet.logged("job_started") - started}


class Clone:
    """A checkout of a kernel and its manifest, beside the stand-in that it was pushed to."""

    def __init__(self, options, folder):
        self.program, self.source = options.program, options.source
        self.root = pathlib.Path(folder)
        self.path = self.root / "clone"
        self.path.mkdir()
        self.git("init", "-q", "-b", "main")
        self.write(".warpwright.yml", fleet.MANIFEST)
        self.write("src/row_sum.cu", fleet.kernel(1))
        self.write("include/common.cuh", (fleet.EXAMPLES / "include/common.cuh").read_text())
        self.commit("a kernel")

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *arguments, at=None):
        return subprocess.run(["git", *arguments], cwd=at or self.path, check=True, stdout=subprocess.PIPE, env={**os.environ, **fleet.AUTHOR}, text=True).stdout

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def run(self, *arguments, environment=None, at=None):
        minimal = {"PATH": "%s:/usr/bin:/bin" % self.program.parent, "HOME": str(self.root), "XDG_CACHE_HOME": str(self.root / "cache")}
        return subprocess.run([str(argument) for argument in arguments], cwd=at or self.path, env={**minimal, **(environment or {})}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors="replace", timeout=300)


def action(options):
    names = ("COMMAND=optimize DEVICE=sim:h200 KERNELS= SHARD= REVISION=HEAD CHANGED_SINCE=auto EVENT_BEFORE= PUBLISH=pull-request DRY_RUN=off BASE_BRANCH= "
             "PULL_REQUEST_HEAD_REF= PULL_REQUEST_HEAD_SHA= DEFAULT_BRANCH=main DRAFT=false LABELS= REVIEWERS= MAX_OPEN= MAX_ROUNDS= MAX_MINUTES= "
             "FAIL_ON=unverified APP_ID= APP_KEY= ANNOTATIONS=true JOB_SUMMARY=true STATE= TOKEN=bot")
    with tempfile.TemporaryDirectory() as folder, World(options) as world:
        clone = Clone(options, folder)
        clone.commit("second")
        address = f"http://127.0.0.1:{world.fleet.hub_port}"
        common = {"WW_" + name.split("=")[0]: name.split("=")[1] for name in names.split()}
        common |= {"WW_API_URL": address + "/api/v3", "WW_SERVER_URL": address, "GITHUB_REPOSITORY": world.name, "GITHUB_REF": "refs/heads/main",
                   "GITHUB_REF_TYPE": "branch", "GITHUB_EVENT_NAME": "push", "GITHUB_ACTIONS": "true", "RUNNER_TEMP": folder,
                   "GITHUB_WORKFLOW_REF": world.name + "/.github/workflows/warpwright.yml@refs/heads/main"}

        def step(changes=None, at=None):
            output, summary = clone.root / "output", clone.root / "summary"
            for path in (output, summary):
                path.write_text("")
            done = clone.run(options.source / "config/action/run", environment={**common, "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary),
                                                                               **(changes or {})}, at=at)
            lines = [line for line in done.stdout.splitlines() if line.startswith("::error")]
            set_outputs = output.read_text()
            return {"exit_code": done.returncode, "errors": len(lines), "errors_with_file_and_line": sum("file=" in line and "line=" in line for line in lines),
                    "summary_bytes": len(summary.read_text()), "remedy": "remedy" in summary.read_text().lower(),
                    "outputs": sum(name + "=" in set_outputs or name + "<<" in set_outputs for name in OUTPUTS)}

        rows = {"no GPU": step({"WW_DEVICE": "cuda", "CUDA_VISIBLE_DEVICES": ""}), "wrong token": step({"WW_TOKEN": "ghs_" + "wrong" * 8}),
                "no token": step({"WW_TOKEN": ""}), "wrong input": step({"WW_PUBLISH": "merge"}), "unknown revision": step({"WW_REVISION": "nowhere"})}
        clone.git("clone", "-q", "--depth", "1", "file://%s" % clone.path, str(clone.root / "shallow"))
        rows["shallow clone"] = step(at=clone.root / "shallow")
        (clone.root / "empty").mkdir()
        rows["no repository"] = step(at=clone.root / "empty")
        kernel = fleet.kernel(1)
        clone.write("src/row_sum.cu", kernel.replace("blockIdx.x", "blockIdx.nowhere", 1))
        clone.commit("broken")
        rows["kernel does not compile"] = step({"WW_PUBLISH": "none"})
        at = kernel.rindex("\n", 0, kernel.rindex("<<<"))
        clone.write("src/row_sum.cu", kernel[:at] + "\n  cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal);" + kernel[at:])
        clone.commit("captures a graph")
        rows["kernel refused"] = step({"WW_PUBLISH": "none"})
        clone.write("src/row_sum.cu", kernel)
        clone.write(".warpwright.yml", "version: 1\nkernels:\n  - {name: a, fil: x}\n")
        clone.commit("a mistake")
        rows["mistake in the manifest"] = step()
        clone.git("rm", "-q", "-f", ".warpwright.yml")
        clone.commit("none")
        rows["no manifest"] = step()
        return {"outputs_of": len(OUTPUTS), "failures": rows}


def config(options):
    with tempfile.TemporaryDirectory() as folder:
        clone = Clone(options, folder)
        root = clone.root
        token = root / "token"
        token.write_text("bot")
        token.chmod(0o600)
        base = f"version: 1\nstate: {root}/state\ndevices: [sim:h200]\nrepositories:\n  - {{url: file://{clone.path}, branches: [main], publish: none}}\n"
        (root / "file").write_text("")
        access, webhooks = "github: {api: http://127.0.0.1:9/api/v3, ", "listen: {webhooks: \"127.0.0.1:%d\"}\n" % fleet.free_port()
        files = {"a webhook secret that is not there": base + access + f"token: {{file: {token}}}, webhook_secret: {{file: {root}/none}}}}\n" + webhooks,
                 "a state that is no folder": base.replace(f"{root}/state", f"{root}/file"),
                 "an address of another machine": base + 'listen: {status: "192.0.2.1:8421"}\n',
                 "webhooks without a secret": base + 'listen: {webhooks: "127.0.0.1:8420"}\n',
                 "an App's key that is none": base + f"github: {{api: http://127.0.0.1:9/api/v3, app: {{id: Iv1, key: {{file: {token}}}}}}}\n"}
        rows = {}
        for name, text in files.items():
            path = root / "operator.yml"
            path.write_text(text)
            checked = clone.run("warpwright", "config", "check", "--secrets", "--operator", path)
            serve = subprocess.Popen([options.program, "serve", "--config", path, "--cache", root / "cache"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                served = serve.wait(20)
            except subprocess.TimeoutExpired:
                serve.terminate()
                serve.wait(30)
                served = "runs"
            rows[name] = {"config_check": checked.returncode, "serve": served}
        return rows


def mistakes(options):
    with tempfile.TemporaryDirectory() as folder:
        clone = Clone(options, folder)
        optimize = ("warpwright", "optimize", "--device", "sim:h200", "--publish", "none", "--max-rounds", "1")
        rows = {"an unknown kernel": clone.run(*optimize, "--kernel", "nowhere").returncode,
                "an unknown revision": clone.run(*optimize, "--revision", "nowhere").returncode,
                "a folder that is not there": clone.run(*optimize, "--repo", clone.root / "none", at=clone.root).returncode,
                "a folder without a repository": clone.run(*optimize, "--repo", clone.root, at=clone.root).returncode,
                "a device of no kind": clone.run("warpwright", "optimize", "--device", "sim:none").returncode}
        clone.write("src/row_sum.cu", fleet.kernel(1).replace("blockIdx.x", "blockIdx.nowhere", 1))
        clone.commit("broken")
        rows["a kernel that does not compile"] = clone.run(*optimize).returncode
        clone.write(".warpwright.yml", "version: 1\nkernels:\n  - {name: a, fil: x}\n")
        clone.commit("a mistake")
        rows["a mistake in the manifest"] = clone.run(*optimize).returncode
        clone.git("rm", "-q", "-f", ".warpwright.yml")
        clone.commit("none")
        rows["no manifest"] = clone.run(*optimize).returncode
        return {"exit_codes": rows, "that_are_3": sum(code == 3 for code in rows.values())}


def dirty(options):
    with tempfile.TemporaryDirectory() as folder:
        clone = Clone(options, folder)
        clone.write("src/row_sum.cu", fleet.kernel(2))
        said = clone.run("warpwright", "optimize", "--device", "sim:h200", "--publish", "none", "--max-rounds", "1").stdout.lower()
        return {"mentioned": any(word in said for word in ("uncommitted", "not committed", "work tree", "working tree"))}


SCENARIOS = {scenario.__name__: scenario for scenario in (replay, conflict, foreign, merged, action, config, mistakes, dirty)}


def rows_of(result):
    """A line of words for each figure."""
    rows = {}
    for name in SCENARIOS:
        for what, value in result[name].items():
            if name == "action" and what == "failures":
                for failure, step in value.items():
                    rows["action", failure] = "exit code %d, %d `::error` of which %d with a place, %s, %d of %d outputs" % (
                        step["exit_code"], step["errors"], step["errors_with_file_and_line"], "a remedy" if step["remedy"] else "no remedy",
                        step["outputs"], len(OUTPUTS))
            elif name == "config":
                rows[name, what] = "check %s, serve %s" % (value["config_check"], value["serve"])
            elif isinstance(value, dict):
                rows |= {(name, inner): str(number) for inner, number in value.items()}
            elif what not in ("outputs_of", "deliveries", "remarks"):
                rows[name, what.replace("_", " ")] = {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
    return rows


def compare(paths):
    before, after = (json.loads(pathlib.Path(path).read_text()) for path in paths)
    old, new = rows_of(before), rows_of(after)
    rows = [{"scenario": key[0], "what": key[1], "before": old.get(key, "-"), "after": new.get(key, "-")} for key in new]
    print(json.dumps({"before": before, "after": after, "table": rows}, indent=1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default="build", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--only", action="append", choices=SCENARIOS)
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE.json", "AFTER.json"))
    options = parser.parse_args()
    if options.compare:
        return compare(options.compare)
    options.program = (options.program or options.build / "daemon/cli/warpwright").resolve()
    options.source = options.source.resolve()
    result = {"cores": os.cpu_count(), "load_average": os.getloadavg()[0]}
    for name in options.only or SCENARIOS:
        print(name, file=sys.stderr)
        try:
            result[name] = SCENARIOS[name](options)
        except (RuntimeError, OSError, subprocess.SubprocessError, urllib.error.URLError, LookupError) as failed:
            result[name] = {"not_measured": str(failed)[-1500:]}
    print(json.dumps(result, indent=1))
    return 1 if any("not_measured" in result[name] for name in options.only or SCENARIOS) else 0


if __name__ == "__main__":
    sys.exit(main())
