// From an example's source to its formula, from there to new kernels, and these against the original on the simulated
// device, at sizes that leave tails everywhere and at addresses that no wide access can use.
#include <gtest/gtest.h>

#include "cli/worker_devices.h"
#include "config/chip_file.h"
#include "judge/lift_shapes.h"
#include "rewrite/derived_text.h"
#include "schedule/schedule.h"
#include "tests/support/compiled_cache.h"
#include "tests/unit/rewrite/rewrite_test_support.h"
#include "worker/service.h"

namespace warpwright {
namespace {

using rewrite_test::Difference;
using rewrite_test::ExampleSpec;
using rewrite_test::ReadExample;

struct Row {
  const char* example;
  const char* schedule;
  double relative;             // of the largest output
  int64_t pointer_offset = 0;  // bytes
  schedule::ParameterValues parameters = {};
};

std::optional<core::Computation> Lifted(const core::KernelSpec& spec, const core::SourceRef& source) {
  static worker::Service service(CompiledCache(), cli::OpenDevice);
  const auto outcome = service.Lift({.source = source,
                                     .spec = spec,
                                     .device = "sim:h200",
                                     .shapes = judge::MakeLiftShapes(spec, 9, uint64_t{32} << 20)});
  const auto* lifted = outcome ? std::get_if<core::Lifted>(&*outcome) : nullptr;
  return lifted ? std::optional(lifted->computation) : std::nullopt;
}

TEST(Execution, NewKernelsComputeWhatTheOriginalsDo) {
  const Row rows[] = {
      {"gelu", "schedule_map", 1e-6},
      {"gelu", "schedule_map", 1e-6, 4, {{"vector_bytes", "8"}}},
      {"gelu_half", "schedule_map", 1e-3, 0, {{"block_size", "128"}}},
      {"residual_half", "schedule_map", 1e-3, 2},
      {"transpose", "schedule_transpose", 0},
      {"transpose", "schedule_transpose", 0, 4, {{"threads", "4"}}},
      {"softmax", "schedule_rows", 1e-5},
      {"softmax", "schedule_rows", 1e-5, 4, {{"threads", "32"}}},
      {"layernorm", "schedule_rows", 1e-5, 0, {{"threads", "1024"}}},
      {"rmsnorm_bf16", "schedule_rows", 1e-2, 0, {{"threads", "256"}}},
      {"row_sum", "schedule_rows", 1e-5},
      {"row_sum", "schedule_split", 1e-5},
      {"argmax", "schedule_rows", 0},
      {"cross_entropy", "schedule_rows", 1e-5},
  };
  std::map<std::string, std::optional<core::Computation>> forms;
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.example) + " " + row.schedule);
    const core::KernelSpec spec = ExampleSpec(row.example);
    const std::string original = ReadExample(spec.file);
    const core::SourceRef source{std::string(WW_SOURCE_DIR) + "/config/examples/kernels", spec.file, original};
    if (!forms.contains(row.example)) forms[row.example] = Lifted(spec, source);
    ASSERT_TRUE(forms[row.example]);
    core::RewriteRequest request{source, spec.entry, "", row.schedule, row.parameters, {}};
    request.scheduling = {*forms[row.example], spec, core::ScheduledCases(spec, core::DeviceKind::kSim),
                          config::LoadChip("h200").value()};
    // A schedule for few rows is chosen by the case that has few.
    if (request.transform == "schedule_split")
      for (const core::Case& c : spec.cases)
        if (c.name == "odd") request.scheduling->cases = {{core::IntegerScalars(c), 1}};
    const auto outcome = schedule::Apply(request);
    ASSERT_TRUE(outcome) << outcome.error().Format();
    const auto* refusal = std::get_if<core::RewriteRefusal>(&*outcome);
    ASSERT_EQ(refusal, nullptr) << refusal->reason;
    const std::string& text = std::get<core::Rewritten>(*outcome).text;
    EXPECT_EQ(Difference(spec, "odd", original, text, {row.relative, row.pointer_offset}), "") << text;
  }
}

struct Original {
  const char *name, *args, *cases, *text, *schedule, *expected;  // the last: what the new text must have
};

constexpr const char* kPoolArguments =
    "{x: {buffer: f32, shape: [N, I, H, W], role: in}, w: {buffer: f32, shape: [O, I, 3, 3], role: in}, b: {buffer: "
    "f32, "
    "shape: [O], role: in}, y: {buffer: f32, shape: [N, O, \"H / 2\", \"W / 2\"], role: out}, N: {scalar: i32}, I: "
    "{scalar: i32}, O: {scalar: i32}, H: {scalar: i32}, W: {scalar: i32}}";
constexpr const char* kPool = R"(
__device__ float at(const float* x, const float* w, int I, int H, int W, int h, int v) {
  float sum = 0;
  for (int i = 0; i < I; ++i)
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 3; ++c) {
        const int y = h + a - 1, z = v + c - 1;
        if (y >= 0 && y < H && z >= 0 && z < W) sum += x[(i * H + y) * W + z] * w[(i * 3 + a) * 3 + c];
      }
  return sum;
}
__global__ void pooled(const float* x, const float* w, const float* b, float* y, int N, int I, int O, int H, int W) {
  const int h = H / 2, v = W / 2, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * O * h * v) return;
  const int o = i / (h * v) % O, n = i / (h * v * O);
  float best = -3.0e38f;
  for (int a = 0; a < 2; ++a)
    for (int c = 0; c < 2; ++c)
      best = fmaxf(best, tanhf(b[o] + at(x + n * I * H * W, w + o * I * 9, I, H, W, i / v % h * 2 + a, i % v * 2 + c)));
  y[i] = best * 0.5f;
}
void run(const float* x, const float* w, const float* b, float* y, int N, int I, int O, int H, int W,
         cudaStream_t stream) {
  pooled<<<(N * O * (H / 2) * (W / 2) + 127) / 128, 128, 0, stream>>>(x, w, b, y, N, I, O, H, W);
}
)";

// Of single kernels, without cases of their own in the examples.
constexpr Original kOriginals[] = {
    {"a pool whose comparison takes what is no number",
     "{x: {buffer: f32, shape: [C, H, W], role: in}, y: {buffer: f32, shape: [C, H, W], role: out}, C: {scalar: i32}, "
     "H: {scalar: i32}, W: {scalar: i32}, K: {scalar: i32}}",
     "[{name: small, C: 3, H: 7, W: 9, K: 3}, {name: odd, C: 2, H: 40, W: 67, K: 5}]", R"(
#define MAX(a, b) ((a) > (b) ? (a) : (b))
__global__ void pool(const float* x, float* y, int C, int H, int W, int K) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= C * H * W) return;
  float best = -INFINITY;
  for (int a = 0; a < K; ++a)
    for (int b = 0; b < K; ++b) {
      const int h = i / W % H + a - 1, w = i % W + b - 1;
      if (h >= 0 && h < H && w >= 0 && w < W) best = MAX(best, x[(i / (H * W) * H + h) * W + w]);
    }
  y[i] = best;
}
void run(const float* x, float* y, int C, int H, int W, int K, cudaStream_t stream) {
  pool<<<(C * H * W + 127) / 128, 128, 0, stream>>>(x, y, C, H, W, K);
}
)",
     "schedule_map", "best = larger(best, x["},
    {"attention to the last few positions",
     "{q: {buffer: f32, shape: [T, 16], role: in}, k: {buffer: f32, shape: [T, 16], role: in}, v: {buffer: f32, shape: "
     "[T, 16], role: in}, y: {buffer: f32, shape: [T, 16], role: out}, T: {scalar: i32}, W: {scalar: i32}, scale: "
     "{scalar: f32, value: 0.25}}",
     "[{name: small, T: 37, W: 5}, {name: odd, T: 150, W: 21}]", R"(
__global__ void attend(const float* q, const float* k, const float* v, float* y, int T, int W, float scale) {
  const int i = blockIdx.x, first = max(0, i - W + 1);
  __shared__ float weights[256];
  for (int j = first + threadIdx.x; j <= i; j += 16) {
    float score = 0;
    for (int d = 0; d < 16; ++d) score += q[i * 16 + d] * scale * k[j * 16 + d];
    weights[j - first] = score;
  }
  __syncthreads();
  float largest = -INFINITY, total = 0, sum = 0;
  for (int j = first; j <= i; ++j) largest = fmaxf(largest, weights[j - first]);
  for (int j = first; j <= i; ++j) {
    const float weight = expf(weights[j - first] - largest);
    total += weight;
    sum += weight * v[j * 16 + threadIdx.x];
  }
  y[i * 16 + threadIdx.x] = sum / total;
}
void run(const float* q, const float* k, const float* v, float* y, int T, int W, float scale, cudaStream_t stream) {
  attend<<<T, 16, 0, stream>>>(q, k, v, y, T, W, scale);
}
)",
     "schedule_attention", "const int begin = max(0, first_row - W + 1)"},
    {"a sum of all that is not the first of its buffer's elements",
     "{x: {buffer: f32, shape: [N], role: in}, y: {buffer: f32, shape: [4], role: inout}, N: {scalar: i32}}",
     "[{name: small, N: 40}, {name: odd, N: 333}]", R"(
__global__ void total(const float* x, float* y, int N) {
  float sum = 0;
  for (int i = 0; i < N; ++i) sum += x[i];
  y[2] = sum / N;
}
void run(const float* x, float* y, int N, cudaStream_t stream) { total<<<1, 1, 0, stream>>>(x, y, N); }
)",
     "schedule_rows", "y[2] = "},
    {"a rotation in place: either half is made of both",
     "{x: {buffer: f32, shape: [N, \"2 * D\"], role: inout}, turns: "
     "{buffer: f32, shape: [N, \"2 * D\"], role: in}, N: {scalar: i32}, D: {scalar: i32}}",
     "[{name: small, N: 5, D: 12}, {name: odd, N: 9, D: 7}, {name: even, N: 6, D: 32}]", R"(
__global__ void rotate(float* x, const float* turns, int N, int D) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * D) return;
  float* a = x + i / D * 2 * D + i % D;
  const float c = turns[i / D * 2 * D + i % D], s = turns[i / D * 2 * D + i % D + D], u = a[0], v = a[D];
  a[0] = u * c - v * s;
  a[D] = v * c + u * s;
}
void run(float* x, const float* turns, int N, int D, cudaStream_t stream) {
  rotate<<<(N * D + 63) / 64, 64, 0, stream>>>(x, turns, N, D);
}
)",
     "schedule_map", "store_packed("},
    {"a triangle: terms up to the row",
     "{x: {buffer: f32, shape: [N, N], role: in}, w: {buffer: f32, shape: [N, M], "
     "role: in}, y: {buffer: f32, shape: [N, M], role: out}, N: {scalar: i32}, M: {scalar: i32}}",
     "[{name: small, N: 9, M: 21}, {name: odd, N: 150, M: 70}]", R"(
__global__ void product(const float* x, const float* w, float* y, int N, int M) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * M) return;
  float sum = 0;
  for (int k = 0; k <= i / M; ++k) sum += x[i / M * N + k] * w[k * M + i % M];
  y[i] = sum;
}
void run(const float* x, const float* w, float* y, int N, int M, cudaStream_t stream) {
  product<<<(N * M + 127) / 128, 128, 0, stream>>>(x, w, y, N, M);
}
)",
     "schedule_tiles", "const int steps = (min(N, first_n + kTileM) + kTileK - 1) / kTileK - first_step;"},
    {"a pool behind a convolution, without memory between them", kPoolArguments,
     "[{name: small, N: 2, I: 3, O: 5, H: 6, W: 9}, {name: odd, N: 1, I: 2, O: 37, H: 61, W: 122}]", kPool,
     "schedule_tiles", "the next place's factors"},
    {"the same with memory of our own, which is too small for a count that overflows", kPoolArguments,
     "[{name: small, N: 2, I: 3, O: 5, H: 6, W: 9}, {name: odd, N: 1, I: 2, O: 7, H: 11, W: 12}]", kPool,
     "schedule_tiles", "if (static_cast<long long>(N) * O * (H / 2 * 2) * (W / 2 * 2) <= 262144)"},
};

TEST(Execution, WhatStandsInOneThreadOrInFewTerms) {
  for (const Original& original : kOriginals) {
    SCOPED_TRACE(original.name);
    const core::KernelSpec spec = rewrite_test::Spec(original.args, original.cases);
    const core::SourceRef source{"/", spec.file, original.text};
    const auto form = Lifted(spec, source);
    ASSERT_TRUE(form);
    core::RewriteRequest request{source, spec.entry, "", original.schedule, {}, {}};
    request.scheduling = {*form, spec, core::ScheduledCases(spec, core::DeviceKind::kSim),
                          config::LoadChip("h200").value()};
    const auto outcome = schedule::Apply(request);
    ASSERT_TRUE(outcome) << outcome.error().Format();
    const auto* refusal = std::get_if<core::RewriteRefusal>(&*outcome);
    ASSERT_EQ(refusal, nullptr) << refusal->reason;
    const std::string& text = std::get<core::Rewritten>(*outcome).text;
    EXPECT_NE(text.find(original.expected), std::string::npos) << text;
    for (const core::Case& c : spec.cases)
      EXPECT_EQ(Difference(spec, c.name, original.text, text, {1e-5}), "") << c.name << text;
  }
}

// A product, a window over its results and a sum: no schedule takes all of it, and each launch has one.
constexpr const char* kPooledProduct = R"(
__global__ void product(const float* x, const float* w, float* t, int M, int N, int K) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M * N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += x[i / N * K + k] * w[i % N * K + k];
  t[i] = sum;
}
__global__ void pooled(const float* t, float* y, int M, int N) {
  const int m = blockIdx.x;
  __shared__ float sums[32];
  float sum = 0;
  for (int j = threadIdx.x; j < N / 3; j += 32)
    sum += fmaxf(t[m * N + 3 * j], fmaxf(t[m * N + 3 * j + 1], t[m * N + 3 * j + 2]));
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int j = 1; j < 32; ++j) sum += sums[j];
  y[m] = sum;
}
void run(const float* x, const float* w, float* t, float* y, int M, int N, int K, cudaStream_t stream) {
  const int blocks = (M * N + 127) / 128;
  product<<<blocks, 128, 0, stream>>>(x, w, t, M, N, K);
  pooled<<<M, 32, 0, stream>>>(t, y, M, N);
}
)";

TEST(Execution, EachLaunchIsWrittenAnewWhereItStands) {
  const core::KernelSpec spec = rewrite_test::Spec(
      "{x: {buffer: f32, shape: [M, K], role: in}, w: {buffer: f32, shape: [N, K], role: in}, t: {buffer: f32, shape: "
      "[M, N], role: scratch}, y: {buffer: f32, shape: [M], role: out}, M: {scalar: i32}, N: {scalar: i32}, K: "
      "{scalar: i32}}",
      "[{name: small, M: 5, N: 9, K: 7}, {name: odd, M: 21, N: 66, K: 35}]");
  const core::SourceRef source{"/", spec.file, kPooledProduct};
  worker::Service service(CompiledCache(), cli::OpenDevice);
  core::RewriteRequest request{source, spec.entry, "", std::string(core::kEachLaunch), {}, {}};
  request.scheduling = {{}, spec, core::ScheduledCases(spec, core::DeviceKind::kSim), config::LoadChip("h200").value()};
  for (const size_t number : {0, 1}) {
    const auto text = rewrite::DeriveText({source,
                                           spec.entry,
                                           "",
                                           std::string(core::kSegmentText),
                                           {{core::kSegmentNumber, std::to_string(number)}},
                                           {}});
    ASSERT_TRUE(text);
    core::LiftRequest lift =
        judge::MakeLiftRequest(source.With(std::get<core::Rewritten>(*text).text), core::SegmentSpec(spec), "sim:h200");
    const auto outcome = service.Lift(lift);
    ASSERT_TRUE(outcome);
    const auto* lifted = std::get_if<core::Lifted>(&*outcome);
    ASSERT_NE(lifted, nullptr) << std::get<core::NotLifted>(*outcome).message;
    request.scheduling->segments.push_back({number, lifted->computation});
  }
  const auto outcome = schedule::Apply(request);
  ASSERT_TRUE(outcome) << outcome.error().Format();
  const auto* refusal = std::get_if<core::RewriteRefusal>(&*outcome);
  ASSERT_EQ(refusal, nullptr) << refusal->reason;
  const std::string& text = std::get<core::Rewritten>(*outcome).text;
  EXPECT_NE(text.find("run_tiles<<<"), std::string::npos) << text;
  EXPECT_NE(text.find("const int blocks = (M * N + 127) / 128;"), std::string::npos) << "what is no launch stays";
  EXPECT_EQ(text.find("void product("), std::string::npos) << "what nothing launches any more goes";
  EXPECT_EQ(Difference(spec, "odd", kPooledProduct, text, {1e-5}), "") << text;
}

}  // namespace
}  // namespace warpwright
