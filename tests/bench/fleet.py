"""The real daemon for benchmarks: `warpwright serve` as a GitHub token's owner, watching repositories on the stand-in for GitHub
(tests/support/github_stand_in), which runs as a program of its own. Used by load_bench.py and soak_bench.py."""
import contextlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

SECRET = "a secret for the benchmark"
EXAMPLES = Path(__file__).resolve().parents[2] / "config/examples/kernels"
MANIFEST = """version: 1
policy: {max_rounds: 1}
kernels:
  - name: row_sum
    file: src/row_sum.cu
    entry: row_sum
    args:
      out: {buffer: f32, shape: [N], role: out}
      inp: {buffer: f32, shape: [N, C], role: in}
      N: {scalar: i32}
      C: {scalar: i32}
    accumulation: C
    cases:
      - {name: small, N: 128, C: 256}
"""


def kernel(version):
    """The example row_sum, which gets faster within seconds, with another meaning for each version."""
    blocks = "ceil_div(N, threads)"
    text = (EXAMPLES / "src/row_sum.cu").read_text()
    assert blocks in text
    return text.replace(blocks, "ceil_div(N + 0 * (%d), threads)" % version)


AUTHOR = {"GIT_AUTHOR_NAME": "Writer", "GIT_AUTHOR_EMAIL": "writer@example.org", "GIT_COMMITTER_NAME": "Writer", "GIT_COMMITTER_EMAIL": "writer@example.org"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(condition, seconds, what):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise RuntimeError("not within %d s: %s" % (seconds, what))


class Fleet:
    """Everything runs when this is entered, and the daemon has seen every repository."""

    def __init__(self, build, program=None, repositories=10, poll=60, nights=None, faults=0.0, wrapper=(), clock_factor=1):
        self.build, self.repositories = Path(build).resolve(), ["acme/k%d" % i for i in range(repositories)]
        self.program = Path(program).resolve() if program else self.build / "daemon/cli/warpwright"
        self.poll, self.nights, self.faults, self.wrapper = poll, nights, faults, list(wrapper)
        self.environment = dict(os.environ)
        if clock_factor != 1:
            self.environment.update(LD_PRELOAD=str(self.build / "tests/bench/libfast_clock.so"), WW_CLOCK_FACTOR=str(clock_factor))
        self.webhook_port, self.status_port = free_port(), free_port()
        self.versions = {}

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="ww-fleet-")
        self.root = Path(self.folder.name)
        self.state = self.root / "state"
        command = [self.build / "tests/support/github_stand_in/github_stand_in", "--root", self.root / "hub", "--token", "person=writer",
                   "--app-token", "bot=warpwright[bot]", "--writer", "writer", "--faults", str(self.faults)]
        for name in self.repositories:
            command += ["--repository", name]
        self.hub = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.hub_port = int(self.hub.stdout.readline())
        for name in self.repositories:
            self.change_kernel(name)
        self.write_config()
        self.log = self.root / "log"
        # Its own copies: a build meanwhile replaces the programs.
        (self.root / "bin").mkdir()
        for name in ("warpwright", "warpwright-worker"):
            shutil.copy2(self.program.parent / name, self.root / "bin" / name)
        with self.log.open("wb") as stream:
            self.daemon = subprocess.Popen([*self.wrapper, self.root / "bin/warpwright", "serve", "--config", self.root / "config.yml", "--cache", self.root / "cache"],
                                           stderr=stream, env=self.environment)
        mirrors = self.state / "repos"
        wait_for(lambda: len(list(mirrors.glob("*/mirror.git/refs/remotes/origin/main"))) + len(list(mirrors.glob("*/mirror.git/packed-refs"))) >= len(self.repositories),
                 120, "the daemon sees its repositories: " + self.log.read_text(errors="replace")[-2000:])
        return self

    def __exit__(self, *_):
        for process in (self.daemon, self.hub):
            process.kill()
            process.wait()
        self.folder.cleanup()

    def write_config(self):
        for name, text in (("token", "bot"), ("secret", SECRET)):
            path = self.root / name
            path.write_text(text)
            path.chmod(0o600)
        lines = ["version: 1", f"state: {self.state}", "devices: [sim:h200]", f"poll: {{every: {self.poll}, at_most: {self.poll}}}",
                 f'listen: {{webhooks: "127.0.0.1:{self.webhook_port}", status: "127.0.0.1:{self.status_port}"}}',
                 f"github: {{api: http://127.0.0.1:{self.hub_port}/api/v3, token: {{file: {self.root}/token}}, webhook_secret: {{file: {self.root}/secret}}}}",
                 "limits: {max_minutes: 5, max_rounds: 2, max_open: 100, max_per_day: 1000, queue: 1000}", "log: {format: json, level: info}"]
        if self.nights:
            lines.append(f'nights: {{at: "{self.nights}", zone: UTC}}')
        lines.append("repositories:")
        lines += [f"  - {{url: http://127.0.0.1:{self.hub_port}/{name}.git, branches: [main]}}" for name in self.repositories]
        (self.root / "config.yml").write_text("\n".join(lines) + "\n")

    # --- What people do

    def git(self, name, *arguments, text=None, index=None):
        environment = {**os.environ, **AUTHOR, **({"GIT_INDEX_FILE": str(index)} if index else {})}
        return subprocess.run(["git", "--git-dir", self.root / "hub" / (name + ".git"), *arguments], check=True, input=text, text=True,
                              stdout=subprocess.PIPE, env=environment).stdout.strip()

    def commit(self, name, files):
        """A commit on main in the bare repository, as a push leaves it."""
        index = self.root / "index"
        index.unlink(missing_ok=True)
        parent = subprocess.run(["git", "--git-dir", self.root / "hub" / (name + ".git"), "rev-parse", "-q", "--verify", "refs/heads/main"],
                                stdout=subprocess.PIPE, text=True).stdout.strip()
        if parent:
            self.git(name, "read-tree", parent, index=index)
        for path, content in files.items():
            blob = self.git(name, "hash-object", "-w", "--stdin", text=content)
            self.git(name, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", index=index)
        tree = self.git(name, "write-tree", index=index)
        commit = self.git(name, "commit-tree", tree, "-m", "change", *(["-p", parent] if parent else []))
        self.git(name, "update-ref", "refs/heads/main", commit)
        return commit

    def change_kernel(self, name):
        version = self.versions[name] = self.versions.get(name, 1) + 1
        return self.commit(name, {".warpwright.yml": MANIFEST, "src/row_sum.cu": kernel(version),
                                  "include/common.cuh": (EXAMPLES / "include/common.cuh").read_text()})

    def change_text(self, name):
        version = self.versions[name] = self.versions.get(name, 1) + 1
        return self.commit(name, {"README": "edition %d\n" % version})

    def send_webhooks(self, rate, first, count):
        """The sender's own process; its output is JSON."""
        return subprocess.Popen([self.build / "tests/bench/bench_webhook_sender", str(self.webhook_port), str(rate), str(first), str(count), SECRET,
                                 *self.repositories], stdout=subprocess.PIPE, text=True)

    # --- What months would have left

    def trajectories(self):
        return sorted(self.state.glob("repos/*/trajectory.sqlite"))

    def finished_tasks(self, path):
        with contextlib.closing(sqlite3.connect(path, timeout=60)) as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'task'").fetchone():
                return 0  # just being created
            return db.execute("SELECT count(*) FROM task WHERE result IS NOT NULL").fetchone()[0]

    def age_trajectory(self, path, tasks):
        """Copies the first finished task until there are so many, with texts of their own."""
        with contextlib.closing(sqlite3.connect(path, timeout=60)) as db, db:
            source, = db.execute("SELECT min(id) FROM task WHERE result IS NOT NULL").fetchone()
            for i in range(tasks - self.finished_tasks(path)):
                age = "aged %d " % i
                new = db.execute("INSERT INTO task(identity, kernel, base, device, config, result, started, finished) SELECT ? || identity, kernel, base, device, "
                                 "? || config, result, started, finished FROM task WHERE id = ?", (age, age, source)).lastrowid
                db.execute("INSERT INTO step(task, identity, kind, base, candidate, method, record, outcome, started, finished) SELECT ?, identity, kind, base, "
                           "candidate, method, record, outcome, started, finished FROM step WHERE task = ?", (new, source))
                db.execute("INSERT INTO content SELECT ? || hash, text FROM content WHERE hash IN (SELECT hash FROM candidate WHERE task = ?)", (age, source))
                db.execute("INSERT INTO candidate SELECT ?, ? || hash, parent, method, parameters, summary, agent, question FROM candidate WHERE task = ?", (new, age, source))

    def age_store(self, jobs):
        """So many jobs that ended long before those of the run."""
        with contextlib.closing(sqlite3.connect(self.state / "daemon.sqlite", timeout=60)) as db, db:
            now = int(time.time() * 1000)
            for i in range(jobs):
                db.execute("INSERT INTO jobs(repository, ref, commit_id, kind, kernel, file, entry, content_key, file_hash, priority, state, again, answer_issue, "
                           "answer_comment, queued, started, finished, result_message) VALUES (?, 'refs/heads/main', ?, 'optimize', ?, 'src/old.cu', 'old', ?, ?, 0, "
                           "'done', 0, 0, 0, ?, ?, ?, 'no improvement found in 3 rounds')",
                           (self.repositories[i % len(self.repositories)], "%040d" % i, "old_%d" % (i % 40), "%064d" % i, "%064d" % i, now, now, now))

    # --- What it costs

    def sample(self):
        status = dict(line.split(":", 1) for line in Path(f"/proc/{self.daemon.pid}/status").read_text().splitlines())
        sizes = {}
        for folder, _, names in os.walk(self.state):  # passes over what is removed meanwhile
            for path in (Path(folder) / name for name in names):
                try:
                    sizes[path] = path.stat().st_blocks * 512
                except FileNotFoundError:
                    pass
        def of(*names):
            return sum(size for path, size in sizes.items() if path.name in names) // 1024
        mirrors = sum(size for path, size in sizes.items() if "mirror.git" in path.parts) // 1024
        return {"resident_kib": int(status["VmRSS"].split()[0]), "anonymous_kib": int(status["RssAnon"].split()[0]), "threads": int(status["Threads"]),
                "descriptors": len(os.listdir(f"/proc/{self.daemon.pid}/fd")), "state_kib": sum(sizes.values()) // 1024 - mirrors, "mirrors_kib": mirrors,
                "processor_seconds": sum(int(n) for n in Path(f"/proc/{self.daemon.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])
                / os.sysconf("SC_CLK_TCK"),
                "store_kib": of("daemon.sqlite"), "store_log_kib": of("daemon.sqlite-wal"), "trajectories_kib": of("trajectory.sqlite"),
                "trees": sum(1 for _ in self.state.glob("repos/*/trees/*.complete"))}

    def logged(self, event):
        return sum(1 for line in self.log.read_text(errors="replace").splitlines() if f'"event":"{event}"' in line)

    def stop(self):
        self.daemon.send_signal(signal.SIGTERM)
        return self.daemon.wait(120)

    def hub_saw(self):
        self.hub.send_signal(signal.SIGTERM)
        return json.loads(self.hub.communicate(timeout=30)[0])
