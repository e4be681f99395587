#!/usr/bin/env python3
"""pytorch.py REPORT.json OUT.json

What PyTorch takes for the entries of a report of corpus.py that improved, at the same sizes, beside what the improved
version takes: eager as one would write it, and torch.compile. Both are the GPU's time: a CUDA graph of twenty calls over
inputs that together exceed the L2 cache, the median of thirty replays. Products stay in exact f32. Needs a GPU and PyTorch;
run it on the machine that the report is from.
"""
import datetime, json, math, statistics, sys
import torch
import torch.nn.functional as F

torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True
L2_BYTES, CALLS, REPLAYS = 64 << 20, 20, 30


def normal(*shape, dtype=torch.float32): return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)
def uniform(*shape): return torch.rand(*shape, device="cuda")
def integers(bound, *shape, dtype=torch.int64): return torch.randint(0, bound, shape, device="cuda", dtype=dtype)


def wave(p, q, v):
    inner = q[1:-1, 1:-1]
    p[1:-1, 1:-1] = 2 * inner - p[1:-1, 1:-1] + v[1:-1, 1:-1] * (
        q[1:-1, 2:] + q[1:-1, :-2] + q[2:, 1:-1] + q[:-2, 1:-1] - 4 * inner)


# Entry -> how its inputs are made at the size of its case `production`, and what computes the same.
ENTRIES = {
    "addVektor": (lambda: (normal(33554432), normal(33554432)), lambda a, b: a + b),
    "dotProduct": (lambda: (normal(33554432), normal(33554432)), torch.dot),
    "layernorm_tiled": (lambda: (normal(8192, 768), normal(768), normal(768)), lambda x, w, b: F.layer_norm(x, (768,), w, b)),
    "ggt_gelu_quick": (lambda: (normal(20971520),), lambda x: x * torch.sigmoid(1.702 * x)),
    "softplus_forward": (lambda: (normal(16777216),), F.softplus),
    "log_softmax_forward": (lambda: (normal(8, 150, 16384),), lambda x: F.log_softmax(x, dim=1)),
    "matmul_bias_relu_tiled": (lambda: (normal(8192, 768), normal(768, 3072), normal(3072)), lambda a, b, c: torch.relu(torch.addmm(c, a, b))),
    "gemm_split_k": (lambda: (normal(64, 131072), normal(131072, 48)), torch.matmul),
    "conv2d_naive": (lambda: (normal(16, 64, 112, 112), normal(64, 64, 3, 3), normal(64)), lambda x, w, b: F.conv2d(x, w, b, padding=1)),
    "deconv2d": (lambda: (normal(8, 128, 64, 64), normal(128, 64, 4, 4)), lambda x, w: F.conv_transpose2d(x, w, stride=2)),
    "wave_step": (lambda: (normal(8192, 4096), normal(8192, 4096), uniform(8192, 4096)), wave),
    "row_logsumexp": (lambda: (normal(8192, 32000),), lambda x: torch.logsumexp(x, 1)),
    "rmsnorm_bf16": (lambda: (normal(4096, 4096, dtype=torch.bfloat16), normal(4096, dtype=torch.bfloat16)), lambda x, w: F.rms_norm(x, (4096,), w, 1e-5)),
    "upsampleNearest": (lambda: (integers(256, 1, 1, 1080, 1920, dtype=torch.uint8),), lambda x: F.interpolate(x, scale_factor=2, mode="nearest")),
    "outer_product": (lambda: (normal(8192, 4096), normal(8192), normal(4096)), lambda a, x, y: a.addr_(x, y)),
    "cross_entropy_naive": (lambda: (normal(8192, 32000), integers(32000, 8192)), lambda x, y: F.cross_entropy(x, y, reduction="none")),
    "kl_div": (lambda: (normal(16777216), uniform(16777216)), lambda x, y: F.kl_div(x, y, reduction="sum")),
    "index_select": (lambda: (normal(64, 4096, 128), integers(4096, 1024)), lambda x, i: torch.index_select(x, 1, i)),
}


def microseconds(function, make):
    first = make()
    size = sum(t.numel() * t.element_size() for t in first)
    sets = [first] + [make() for _ in range(min(CALLS - 1, 4 * L2_BYTES // size))]
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for k in range(5): function(*sets[k % len(sets)])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for k in range(CALLS): function(*sets[k % len(sets)])
    taken = []
    for _ in range(REPLAYS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record(), graph.replay(), end.record(), end.synchronize()
        taken.append(1000 * begin.elapsed_time(end) / CALLS)
    return round(statistics.median(taken), 2)


def mean(values): return round(math.exp(sum(map(math.log, values)) / len(values)), 3) if values else None


rows = []
for entry in json.load(open(sys.argv[1]))["rows"]:
    case = next((c for c in entry.get("cases") or [] if c["name"] == "production"), None)
    if entry["outcome"] != "improved" or case is None or entry["kernel"] not in ENTRIES: continue
    make, function = ENTRIES[entry["kernel"]]
    row = {"kernel": entry["kernel"], "part": entry["part"], "original_us": round(case["original_us"], 2), "improved_us": round(case["us"], 2)}
    for name, wrap in (("eager_us", lambda f: f), ("compiled_us", lambda f: torch.compile(f, dynamic=False))):
        try: row[name] = microseconds(wrap(function), make)
        except Exception as error: row[name + "_error"] = str(error).splitlines()[0][:200]
        torch.cuda.empty_cache()
    rows.append(row)
    print(row, flush=True)
report = {"command": "tests/bench/pytorch.py REPORT.json OUT.json", "date": datetime.date.today().isoformat(),
          "machine": torch.cuda.get_device_name() + ", PyTorch " + torch.__version__, "entries": len(rows)}
for name in ("eager_us", "compiled_us"):
    timed = [row for row in rows if name in row]
    report[name.replace("_us", "")] = {"entries": len(timed), "as_fast": sum(row["improved_us"] <= row[name] for row in timed),
        "speed_of_originals": mean([row[name] / row["original_us"] for row in timed]),
        "speed_of_improved": mean([row[name] / row["improved_us"] for row in timed])}
json.dump(report | {"rows": rows}, open(sys.argv[2], "w"), indent=1)
print(json.dumps(report))
