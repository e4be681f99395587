#!/usr/bin/env python3
"""What reviewers see of one kernel in five situations, as texts and as pictures: LOOKED_AT.md says what was looked at.

usage: looked_at.py FOLDER [BUILD]

The real daemon on the simulator and the stand-in for GitHub: a gain is proposed; its base changes beside the kernel, and it is carried over;
the kernel becomes slower, and a night finds it; somebody commits to the branch; another kernel is refused. After each, FOLDER has the pull
requests, their comments, the check of the tip and the dashboard as Markdown, and the status page in four pictures. Takes five minutes.
"""
import json
import pathlib
import subprocess
import sys
import time
import urllib.request

import fleet

RENDER = pathlib.Path(__file__).resolve().parents[2] / "script/render-pull-request"
HEADERS = {"Authorization": "Bearer bot", "Accept": "application/vnd.github+json", "User-Agent": "looked_at", "X-GitHub-Api-Version": "2022-11-28"}
REFUSED_ENTRY = """  - name: scale_if_large
    file: src/scale.cu
    entry: scale_if_large
    args:
      out: {buffer: f32, shape: [n], role: out}
      inp: {buffer: f32, shape: [n], role: in}
      n: {scalar: i32}
    cases:
      - {name: small, n: 4096}
"""
REFUSED = """#include "common.cuh"

static __global__ void scale(float* out, const float* inp, int n, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = inp[i] * by;
}

void scale_if_large(float* out, const float* inp, int n) {
  float first;
  cudaMemcpy(&first, inp, sizeof(float), cudaMemcpyDeviceToHost);
  scale<<<ceil_div(n, 256), 256>>>(out, inp, n, first > 1 ? 0.5f : 1.0f);
}
"""
SUM = "for (int c = 0; c < C; c++) total += inp[(size_t)row * C + c];"
SLOWER_SUM = """for (int pass = 0; pass < 8; pass++) {
      total = 0.f;
      for (int c = 0; c < C; c++) total += ((const volatile float*)inp)[(size_t)row * C + c];
    }"""


class Reader:
    def __init__(self, world, folder):
        self.world, self.folder, self.repository = world, pathlib.Path(folder), world.repositories[0]
        self.folder.mkdir(parents=True, exist_ok=True)

    def ask(self, path):
        address = f"http://127.0.0.1:{self.world.hub_port}/api/v3/repos/{self.repository}/{path}"
        with urllib.request.urlopen(urllib.request.Request(address, headers=HEADERS)) as answer:
            return json.load(answer)

    def idle(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.world.status_port}/api/snapshot") as answer:
            return all(job["state"] in ("done", "waiting") for job in json.load(answer)["jobs"])

    def write(self, name, *parts):
        (self.folder / (name + ".md")).write_text("\n\n".join(part or "" for part in parts) + "\n")

    def keep(self, stage):
        time.sleep(6)  # the push is seen within a second; the dashboard follows the jobs
        fleet.wait_for(self.idle, 400, "the end of the jobs")
        time.sleep(6)
        for pull in self.ask("pulls?state=all"):
            self.write(f"{stage}-pull-{pull['number']}", "# " + pull["title"], pull["body"])
            self.write(f"{stage}-comments-{pull['number']}", *(c["body"] for c in self.ask(f"issues/{pull['number']}/comments")))
        for issue in self.ask("issues?state=all"):
            if "pull_request" not in issue:
                self.write(f"{stage}-dashboard", "# " + issue["title"], issue["body"])
        for run in self.ask(f"commits/{self.world.git(self.repository, 'rev-parse', 'main')}/check-runs")["check_runs"]:
            self.write(f"{stage}-check-{run['name'].split()[-1]}", f"# {run['name']}: {run['conclusion']}", run["output"]["title"],
                       run["output"]["summary"], run["output"].get("text"))
        subprocess.run([RENDER, f"http://127.0.0.1:{self.world.status_port}/", self.folder / (stage + "-status")], check=True)

    def commit_by_hand(self):
        git, index = self.world.git, self.world.root / "by-hand"
        branch = "refs/heads/warpwright/row_sum"
        git(self.repository, "read-tree", branch, index=index)
        text = git(self.repository, "show", branch + ":src/row_sum.cu")
        blob = git(self.repository, "hash-object", "-w", "--stdin", text="// tuned by hand\n" + text + "\n")
        git(self.repository, "update-index", "--cacheinfo", f"100644,{blob},src/row_sum.cu", index=index)
        tree = git(self.repository, "write-tree", index=index)
        git(self.repository, "update-ref", branch, git(self.repository, "commit-tree", tree, "-m", "by hand", "-p", branch))


def nights(world, count):
    until = world.logged("night_finished") + count
    fleet.wait_for(lambda: world.logged("night_finished") >= until, 300, "a night")


def main():
    folder, build = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "build"
    with fleet.Fleet(build, repositories=1, poll=1, nights="* * * * *") as world:
        reader = Reader(world, folder)
        name = reader.repository
        world.change_kernel(name)
        fleet.wait_for(lambda: world.logged("published") > 0, 300, "a job")
        reader.keep("1-gain")
        kernel = fleet.kernel(world.versions[name])
        world.commit(name, {"src/row_sum.cu": kernel.replace("static __global__", "// A thread for each row.\nstatic __global__", 1)})
        reader.keep("2-carried")
        nights(world, 1)
        assert SUM in kernel
        world.commit(name, {"src/row_sum.cu": kernel.replace(SUM, SLOWER_SUM)})
        nights(world, 2)
        reader.keep("3-slower")
        reader.commit_by_hand()
        world.change_kernel(name)
        reader.keep("4-foreign")
        world.commit(name, {".warpwright.yml": fleet.MANIFEST + REFUSED_ENTRY, "src/scale.cu": REFUSED})
        reader.keep("5-refused")


if __name__ == "__main__":
    main()
