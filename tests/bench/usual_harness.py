#!/usr/bin/env python3
"""Does what bench_throughput does, but in the usual way, to the same candidates: each is built as a PyTorch extension
(load_inline), compared with torch.softmax on five random inputs, timed 100 times with CUDA events and a flushed L2, and
profiled with `ncu --set full`. Prints one JSON object. Needs PyTorch with CUDA, nvcc and ncu.

  usual_harness.py REPOSITORY CANDIDATE.cu...

The protocol is that of KernelBench's `eval_kernel_against_ref` and its `cuda_event` timing: 3 warm-ups, a 256 MiB write
before each trial, tolerance 1e-4. To its advantage, one process imports PyTorch once for all candidates, and only the
first shape of the manifest is used, while bench_throughput verifies and times every shape.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import torch
from torch.utils.cpp_extension import load_inline

ROWS, COLUMNS = 1024, 8192  # the case "vocabulary" of config/examples/kernels
WRAPPER = """
#include <torch/extension.h>
torch::Tensor run(torch::Tensor inp) {
  auto out = torch::empty_like(inp);
  softmax_forward(out.data_ptr<float>(), inp.data_ptr<float>(), inp.size(0), inp.size(1));
  return out;
}
"""


def build(name, text, repository, folder):
    os.makedirs(folder, exist_ok=True)
    return load_inline(name=name, cpp_sources="torch::Tensor run(torch::Tensor inp);", cuda_sources=text + WRAPPER, functions=["run"],
                       extra_include_paths=[os.path.join(repository, "src")], build_directory=folder, verbose=False)


def check(module):
    for seed in range(5):
        torch.manual_seed(seed)
        inp = torch.randn(ROWS, COLUMNS, device="cuda") * 3
        if not torch.allclose(module.run(inp), torch.softmax(inp, dim=1), atol=1e-4, rtol=1e-4):
            return False
    return True


def measure(module):
    inp = torch.randn(ROWS, COLUMNS, device="cuda") * 3
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    for _ in range(3):
        module.run(inp)
    times = []
    for _ in range(100):
        flush.fill_(42)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        module.run(inp)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1000)
    return sum(times) / len(times)


def profile(name, folder):
    command = ["ncu", "--set", "full", "--clock-control", "none", "-k", "regex:softmax", "-c", "1", "--csv", "--page", "raw",
               sys.executable, os.path.abspath(__file__), "--one", name, folder]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode == 0 and "sm__cycles" in done.stdout


def one(name, folder):
    sys.path.insert(0, folder)
    module = __import__(name)
    module.run(torch.randn(ROWS, COLUMNS, device="cuda"))
    torch.cuda.synchronize()


def main():
    if sys.argv[1:2] == ["--one"]:
        return one(*sys.argv[2:4])
    if len(sys.argv) < 3:
        sys.exit("usage: usual_harness.py REPOSITORY CANDIDATE.cu...")
    torch.zeros(1, device="cuda")  # the context is not a candidate's cost
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for path in sys.argv[2:]:
            name = "candidate_" + "".join(c if c.isalnum() else "_" for c in os.path.splitext(os.path.basename(path))[0])
            folder = os.path.join(work, name)
            row = {"candidate": os.path.splitext(os.path.basename(path))[0], "seconds": {}}
            marks = [time.monotonic()]
            module = build(name, open(path).read(), sys.argv[1], folder)
            marks.append(time.monotonic())
            row["correct"] = check(module)
            marks.append(time.monotonic())
            row["us"] = measure(module)
            marks.append(time.monotonic())
            row["profiled"] = profile(name, folder)
            marks.append(time.monotonic())
            for part, begin, end in zip(("build", "check", "time", "ncu"), marks, marks[1:]):
                row["seconds"][part] = end - begin
            row["seconds"]["all"] = marks[-1] - marks[0]
            rows.append(row)
    total = sum(row["seconds"]["all"] for row in rows)
    print(json.dumps({"harness": "load_inline, 5 checks, 100 timed runs, ncu --set full", "torch": torch.__version__,
                      "device": torch.cuda.get_device_name(), "candidates": rows, "seconds": total,
                      "candidates_per_minute": 60 * len(rows) / total}, indent=2))


if __name__ == "__main__":
    main()
