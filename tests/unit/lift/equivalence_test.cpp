// Versions of an entry that compute the same, and versions that nearly do.
#include "lift/equivalence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compile/compiler.h"
#include "core/dtype.h"
#include "tests/support/compiled_cache.h"

namespace warpwright::lift {
namespace {

using core::DifferenceKind;

// An entry f(const float* x, const float* w, float* out, int rows, int cols) with x[rows, cols], w[cols] and
// out[rows, cols]. Its launcher runs its kernels one after another; a third pointer is a workspace of 4096 floats.
struct Version {
  const char* source;
  uint32_t threads = 1;  // per block; a block for each row
  std::vector<std::string> kernels = {"k"};
  uint32_t blocks_per_row = 1;
};

core::CompiledModule Compile(const Version& version) {
  static const compile::Compiler compiler = std::move(*compile::Compiler::Create(CompiledCache()));
  const std::string text = std::string("#define INFINITY __int_as_float(0x7f800000)\n") + version.source;
  compile::CompileRequest request{"kernel.cu", text, {}, version.kernels, "sm_90"};
  request.build = compile::Build::kMarkers;
  const auto outcome = compiler.Compile(request);
  EXPECT_TRUE(outcome) << outcome.error().Format();
  if (!outcome) return {};
  if (const auto* failed = std::get_if<core::CompileFailed>(&*outcome)) {
    ADD_FAILURE() << failed->log;
    return {};
  }
  return std::get<core::CompiledModule>(*outcome);
}

Prepare PrepareOf(const Version& version) {
  auto module = std::make_shared<const core::CompiledModule>(Compile(version));
  return [module, version](const core::LiftShape& shape) -> Result<PrepareOutcome> {
    const auto rows = std::get<int64_t>(shape.scalars.at("rows")), cols = std::get<int64_t>(shape.scalars.at("cols"));
    PreparedShape prepared{module, {}};
    core::LaunchPlan& plan = prepared.plan;
    for (const core::BufferContent& buffer : shape.buffers)
      plan.buffers.push_back({core::PlanBuffer::Kind::kArgument, buffer.name, buffer.bytes.size()});
    plan.buffers.push_back({core::PlanBuffer::Kind::kWorkspace, "workspace", 16384});
    for (const std::string& kernel : version.kernels) {
      core::KernelLaunch launch{
          .kernel = kernel, .grid = {static_cast<uint32_t>(rows) * version.blocks_per_row}, .block = {version.threads}};
      for (uint32_t b = 0; b < 4; ++b) {
        core::KernelParameter parameter;
        parameter.bytes.resize(8);
        parameter.pointers[0] = {b, 0};
        launch.parameters.push_back(std::move(parameter));
      }
      for (const int64_t size : {rows, cols}) {
        core::KernelParameter parameter;
        parameter.bytes.resize(4);
        std::memcpy(parameter.bytes.data(), &size, 4);
        launch.parameters.push_back(std::move(parameter));
      }
      plan.ops.emplace_back(std::move(launch));
    }
    return PrepareOutcome(std::move(prepared));
  };
}

core::Expression Size(const char* name) { return std::move(*core::Expression::Parse(name)); }

core::EquivalenceRequest Request(const std::vector<std::pair<int64_t, int64_t>>& shapes) {
  core::EquivalenceRequest request;
  const auto buffer = [](std::vector<core::Expression> shape, core::Role role) {
    return core::BufferArgument{.shape = std::move(shape), .role = role};
  };
  request.spec.args = {{"x", buffer({Size("rows"), Size("cols")}, core::Role::kIn)},
                       {"w", buffer({Size("cols")}, core::Role::kIn)},
                       {"out", buffer({Size("rows"), Size("cols")}, core::Role::kOut)},
                       {"rows", core::ScalarArgument{}},
                       {"cols", core::ScalarArgument{}}};
  for (const auto& [rows, cols] : shapes) {
    core::LiftShape shape;
    shape.scalars = {{"rows", rows}, {"cols", cols}};
    for (const auto& [name, count] : {std::pair("x", rows * cols), {"w", cols}, {"out", rows * cols}}) {
      std::vector<std::byte> bytes(static_cast<size_t>(count) * 4);
      for (size_t i = 0; i < static_cast<size_t>(count); ++i)
        core::StoreFromDouble(core::DType::kF32, bytes.data(), i, std::sin(static_cast<double>(i) * 1.7 + 0.3) * 2);
      core::BufferContent content{.name = name};
      content.bytes = base::Bytes(std::move(bytes));
      content.uninitialized = content.name == "out";
      shape.buffers.push_back(std::move(content));
    }
    request.shapes.push_back(std::move(shape));
  }
  return request;
}

core::Equivalence Compare(const Version& original, const Version& candidate,
                          const std::vector<std::pair<int64_t, int64_t>>& shapes = {{3, 37}, {2, 70}}) {
  core::EquivalenceRequest request = Request(shapes);
  request.seconds_limit = 60;
  auto answer = CompareEntries(request, PrepareOf(original), PrepareOf(candidate));
  EXPECT_TRUE(answer) << answer.error().Format();
  return answer ? std::move(*answer) : core::Equivalence{};
}

std::string Say(const core::Equivalence& answer) {
  if (const auto* not_comparable = std::get_if<core::NotComparable>(&answer.outcome))
    return not_comparable->blocker + ": " + not_comparable->message;
  const auto* different = std::get_if<core::Different>(&answer.outcome);
  std::string text = different == nullptr ? "equal" : "";
  if (different != nullptr)
    for (const core::Difference& d : different->differences)
      text += std::string(Name(d.kind)) + " " + d.output + "[" + std::to_string(d.element) + "] " +
              std::to_string(d.expected) + " " + std::to_string(d.computed) + " " + d.original + " | " + d.candidate +
              "\n";
  for (const std::string& remark : answer.remarks) text += "\n" + remark;
  return text;
}

#define ARGUMENTS "(const float* x, const float* w, float* out, float* ws, int rows, int cols)"
#define KERNEL "extern \"C\" __global__ void k" ARGUMENTS
#define ROW "const float* row = x + blockIdx.x * cols; float* to = out + blockIdx.x * cols; const int t = threadIdx.x; "

const Version kSum = {KERNEL "{" ROW R"(
  float s = 0;
  for (int c = 0; c < cols; ++c) s += row[c];
  for (int c = 0; c < cols; ++c) to[c] = s;
})"};
const Version kSoftmax = {KERNEL "{" ROW R"(
  float m = -INFINITY, s = 0;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, row[c]);
  for (int c = 0; c < cols; ++c) s += expf(row[c] - m);
  for (int c = 0; c < cols; ++c) to[c] = expf(row[c] - m) / s;
})"};
const Version kNorm = {KERNEL "{" ROW R"(
  float s = 0, v = 0;
  for (int c = 0; c < cols; ++c) s += row[c];
  const float mean = s / cols;
  for (int c = 0; c < cols; ++c) v += (row[c] - mean) * (row[c] - mean);
  const float r = rsqrtf(v / cols + 1e-5f);
  for (int c = 0; c < cols; ++c) to[c] = (row[c] - mean) * r * w[c];
})"};
const Version kAttention = {KERNEL "{" ROW R"(
  float m = -INFINITY, s = 0, o = 0;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, row[c]);
  for (int c = 0; c < cols; ++c) { s += expf(row[c] - m); o += expf(row[c] - m) * w[c]; }
  for (int c = 0; c < cols; ++c) to[c] = o / s;
})"};
const Version kMap = {KERNEL "{" ROW R"(
  for (int c = 0; c < cols; ++c) to[c] = row[c] * w[c] + row[c] / 3.0f;
})"};
const Version kGelu = {KERNEL "{" ROW R"(
  for (int c = t; c < cols; c += blockDim.x) to[c] = 0.5f * row[c] * (1.0f + erff(row[c] * 0.70710678f));
})",
                       32};
const Version kExp = {KERNEL "{" ROW R"(
  for (int c = t; c < cols; c += blockDim.x) to[c] = expf(row[c]);
})",
                      32};

struct HonestCase {
  const char* name;
  const Version& original;
  Version candidate;
};
void PrintTo(const HonestCase& c, std::ostream* out) { *out << c.name; }

const HonestCase kHonest[] = {
    {"TreeSum",
     kSum,
     {KERNEL "{" ROW R"(
  __shared__ float part[64];
  float s = 0;
  for (int c = t; c < cols; c += 64) s += row[c];
  part[t] = s;
  for (int d = 32; d > 0; d /= 2) { __syncthreads(); if (t < d) part[t] += part[t + d]; }
  __syncthreads();
  for (int c = t; c < cols; c += 64) to[c] = part[0];
})",
      64}},
    {"KahanSum", kSum, {KERNEL "{" ROW R"(
  float s = 0, e = 0;
  for (int c = 0; c < cols; ++c) { float y = row[c] - e, z = s + y; e = (z - s) - y; s = z; }
  for (int c = 0; c < cols; ++c) to[c] = s;
})"}},
    {"WarpShuffles",
     kSum,
     {KERNEL "{" ROW R"(
  float s = 0;
  for (int c = t; c < cols; c += 32) s += row[c];
  for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
  for (int c = t; c < cols; c += 32) to[c] = s;
})",
      32}},
    {"SplitSumInTwoLaunches",
     kSum,
     {R"(
extern "C" __global__ void k)" ARGUMENTS R"({
  const int t = threadIdx.x;
  float s = 0;
  for (int c = t; c < cols; c += 8) s += x[blockIdx.x * cols + c];
  ws[blockIdx.x * 8 + t] = s;
}
extern "C" __global__ void k2)" ARGUMENTS R"({
  const int t = threadIdx.x;
  float s = 0;
  for (int i = 0; i < 8; ++i) s += ws[blockIdx.x * 8 + i];
  for (int c = t; c < cols; c += 8) out[blockIdx.x * cols + c] = s;
})",
      8,
      {"k", "k2"}}},
    {"SplitSumByAtomics",
     kSum,
     {R"(
extern "C" __global__ void k)" ARGUMENTS R"({ if (threadIdx.x == 0) ws[blockIdx.x] = 0; }
extern "C" __global__ void k2)" ARGUMENTS R"({
  for (int c = threadIdx.x; c < cols; c += 16) atomicAdd(ws + blockIdx.x, x[blockIdx.x * cols + c]);
}
extern "C" __global__ void k3)" ARGUMENTS R"({
  for (int c = threadIdx.x; c < cols; c += 16) out[blockIdx.x * cols + c] = ws[blockIdx.x];
})",
      16,
      {"k", "k2", "k3"}}},
    {"Welford", kNorm, {KERNEL "{" ROW R"(
  float mean = 0, v = 0;
  for (int c = 0; c < cols; ++c) {
    const float d = row[c] - mean;
    mean += d / (c + 1);
    v += d * (row[c] - mean);
  }
  const float r = rsqrtf(v / cols + 1e-5f);
  for (int c = 0; c < cols; ++c) to[c] = (row[c] - mean) * r * w[c];
})"}},
    {"NormByReciprocals",
     kNorm,
     {KERNEL "{" ROW R"(
  const float inverse = 1.0f / cols;
  float s = 0, v = 0;
  for (int c = t; c < cols; c += 32) s += row[c];
  for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
  const float mean = s * inverse;
  for (int c = t; c < cols; c += 32) v = fmaf(row[c] - mean, row[c] - mean, v);
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  const float r = 1.0f / sqrtf(fmaf(v, inverse, 1e-5f));
  for (int c = t; c < cols; c += 32) to[c] = (row[c] - mean) * (r * w[c]);
})",
      32}},
    {"OnlineSoftmax", kSoftmax, {KERNEL "{" ROW R"(
  float m = -INFINITY, s = 0;
  for (int c = 0; c < cols; ++c) {
    const float now = fmaxf(m, row[c]);
    s = s * expf(m - now) + expf(row[c] - now);
    m = now;
  }
  const float r = 1.0f / s;
  for (int c = 0; c < cols; ++c) to[c] = expf(row[c] - m) * r;
})"}},
    {"SoftmaxByBaseTwo",
     kSoftmax,
     {KERNEL "{" ROW R"(
  float m = -INFINITY, s = 0;
  for (int c = t; c < cols; c += 32) m = fmaxf(m, row[c]);
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
  for (int c = t; c < cols; c += 32) s += exp2f((row[c] - m) * 1.44269504f);
  for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
  for (int c = t; c < cols; c += 32) to[c] = exp2f((row[c] - m) * 1.44269504f) / s;
})",
      32}},
    {"FlashAttention", kAttention, {KERNEL "{" ROW R"(
  float m = -INFINITY, s = 0, o = 0;
  for (int b = 0; b < cols; b += 16) {
    float tile = -INFINITY;
    for (int c = b; c < min(b + 16, cols); ++c) tile = fmaxf(tile, row[c]);
    const float now = fmaxf(m, tile), scale = expf(m - now);
    s *= scale, o *= scale;
    for (int c = b; c < min(b + 16, cols); ++c) {
      const float p = expf(row[c] - now);
      s += p;
      o = fmaf(p, w[c], o);
    }
    m = now;
  }
  for (int c = 0; c < cols; ++c) to[c] = o / s;
})"}},
    {"Fma", kMap, {KERNEL "{" ROW R"(
  for (int c = 0; c < cols; ++c) to[c] = fmaf(row[c], w[c], row[c] * (1.0f / 3.0f));
})"}},
    {"Factored", kMap, {KERNEL "{" ROW R"(
  for (int c = 0; c < cols; ++c) to[c] = row[c] * (w[c] + 0.33333334f);
})"}},
    {"SameAgain", kSoftmax, kSoftmax},
};

class Honest : public testing::TestWithParam<HonestCase> {};
TEST_P(Honest, IsEqual) {
  const core::Equivalence answer = Compare(GetParam().original, GetParam().candidate);
  const auto* equal = std::get_if<core::Equal>(&answer.outcome);
  ASSERT_NE(equal, nullptr) << Say(answer);
  EXPECT_EQ(equal->shapes, 2u);
  EXPECT_EQ(equal->elements, 3u * 37 + 2 * 70);
  EXPECT_LE(equal->identical + equal->same_form, equal->elements);
}
INSTANTIATE_TEST_SUITE_P(Equivalence, Honest, testing::ValuesIn(kHonest),
                         [](const auto& each) { return each.param.name; });

struct WrongCase {
  const char* name;
  const Version& original;
  Version candidate;
  DifferenceKind kind;
  std::vector<std::pair<int64_t, int64_t>> shapes = {{3, 37}, {2, 70}};
  const char* remark = "";
};
void PrintTo(const WrongCase& c, std::ostream* out) { *out << c.name; }

const WrongCase kWrong[] = {
    {"SkipsATerm",
     kSum,
     {KERNEL "{" ROW R"(
  float s = 0;
  for (int c = 0; c < cols; ++c) if (c != 17) s += row[c];
  for (int c = 0; c < cols; ++c) to[c] = s;
})"},
     DifferenceKind::kFunction,
     {{3, 37}},
     "no output depends on 3 of the 111 elements of x"},
    {"MovesEpsilon",
     kNorm,
     {KERNEL "{" ROW R"(
  float s = 0, v = 0;
  for (int c = 0; c < cols; ++c) s += row[c];
  const float mean = s / cols;
  for (int c = 0; c < cols; ++c) v += (row[c] - mean) * (row[c] - mean);
  const float r = 1.0f / (sqrtf(v / cols) + 1e-5f);
  for (int c = 0; c < cols; ++c) to[c] = (row[c] - mean) * r * w[c];
})"},
     DifferenceKind::kFunction},
    {"SmallerEpsilon",
     kNorm,
     {KERNEL "{" ROW R"(
  float s = 0, v = 0;
  for (int c = 0; c < cols; ++c) s += row[c];
  const float mean = s / cols;
  for (int c = 0; c < cols; ++c) v += (row[c] - mean) * (row[c] - mean);
  const float r = rsqrtf(v / cols + 1e-6f);
  for (int c = 0; c < cols; ++c) to[c] = (row[c] - mean) * r * w[c];
})"},
     DifferenceKind::kFunction},
    {"DropsTheTail",
     kSum,
     {KERNEL "{" ROW R"(
  float s = 0;
  for (int c = 0; c < cols / 4 * 4; ++c) s += row[c];
  for (int c = 0; c < cols; ++c) to[c] = s;
})"},
     DifferenceKind::kFunction},
    {"LeavesTheTail",
     kMap,
     {KERNEL "{" ROW R"(
  for (int c = 0; c < cols / 4 * 4; ++c) to[c] = row[c] * w[c] + row[c] / 3.0f;
})"},
     DifferenceKind::kNotWritten},
    {"GuardOffByOne",
     kSum,
     {KERNEL "{" ROW R"(
  float s = 0;
  for (int c = 1; c < cols; ++c) s += row[c];
  for (int c = 0; c < cols; ++c) to[c] = s + row[1] * 0.0f + (c > 0 ? row[0] : 0.0f);
})"},
     DifferenceKind::kFunction},
    {"ReadsBeyond",
     kSum,
     {KERNEL "{" ROW R"(
  float s = 0;
  for (int c = 0; c <= cols; ++c) s += row[c];
  for (int c = 0; c < cols; ++c) to[c] = s;
})"},
     DifferenceKind::kFails},
    {"OnePassVariance",
     kNorm,
     {KERNEL "{" ROW R"(
  float s = 0, q = 0;
  for (int c = 0; c < cols; ++c) { s += row[c]; q += row[c] * row[c]; }
  const float mean = s / cols;
  const float r = rsqrtf(fmaxf(q / cols - mean * mean, 0.0f) + 1e-5f);
  for (int c = 0; c < cols; ++c) to[c] = (row[c] - mean) * r * w[c];
})"},
     DifferenceKind::kAccuracy},
    {"UnshiftedSoftmax",
     kSoftmax,
     {KERNEL "{" ROW R"(
  float s = 0;
  for (int c = 0; c < cols; ++c) s += expf(row[c]);
  for (int c = 0; c < cols; ++c) to[c] = expf(row[c]) / s;
})"},
     DifferenceKind::kAccuracy},
    {"PolynomialExponential",
     kExp,
     {KERNEL "{" ROW R"(
  for (int c = t; c < cols; c += 32) {
    const float v = row[c];
    to[c] = 1 + v * (1 + v * (0.5f + v * (1.0f / 6 + v * (1.0f / 24 + v * (1.0f / 120 + v / 720)))));
  }
})",
      32},
     DifferenceKind::kFunction,
     {{3, 37}},
     "it calls no exp"},
    {"ApproximateGelu",
     kGelu,
     {KERNEL "{" ROW R"(
  for (int c = t; c < cols; c += 32) {
    const float v = row[c];
    to[c] = 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
  }
})",
      32},
     DifferenceKind::kFunction,
     {{3, 37}},
     "it calls tanh"},
    {"TableOfValues",
     kExp,
     {R"(
__constant__ float table[65];
)" KERNEL "{" ROW R"(
  for (int c = t; c < cols; c += 32) {
    const float v = fminf(fmaxf(row[c], -4.0f), 4.0f);
    const float low = floorf(v * 8);
    to[c] = expf(low / 8) * (1 + (v - low / 8));
  }
})",
      32},
     DifferenceKind::kFunction},
    {"OtherBeyondASize",
     kSum,
     {KERNEL "{" ROW R"(
  float s = 0;
  for (int c = 0; c < (cols > 2048 ? 2048 : cols); ++c) s += row[c];
  for (int c = 0; c < cols; ++c) to[c] = s;
})"},
     DifferenceKind::kFunction,
     {{3, 37}, {1, 2049}}},
    {"StaleWorkspace",
     kSum,
     {R"(
__device__ int called;
extern "C" __global__ void k)" ARGUMENTS R"({
  if (blockIdx.x != 0) return;
  const bool first = called == 0;
  called = 1;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    if (first) ws[r] = s;
    for (int c = 0; c < cols; ++c) out[r * cols + c] = ws[r];
  }
})"},
     DifferenceKind::kEarlierCall},
    {"WritesOnce",
     kSum,
     {R"(
__device__ int called;
extern "C" __global__ void k)" ARGUMENTS R"({
  const int r = blockIdx.x;
  if (called == rows) return;
  ++called;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  for (int c = 0; c < cols; ++c) out[r * cols + c] = s;
})"},
     DifferenceKind::kEarlierCall},
    {"OrderOfBlocks",
     kSum,
     {R"(
extern "C" __global__ void k)" ARGUMENTS R"({ if (blockIdx.x == 0) ws[0] = 0; }
extern "C" __global__ void k2)" ARGUMENTS R"({
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[blockIdx.x * cols + c];
  if (blockIdx.x == 0) ws[0] = 1;
  const bool early = ws[0] == 0;  // the first block has not run yet
  for (int c = 0; c < cols; ++c) out[blockIdx.x * cols + c] = early ? s + 1 : s;
})",
      1,
      {"k", "k2"}},
     DifferenceKind::kOrder},
    {"WrongAboveFive",
     kMap,
     {KERNEL "{" ROW R"(
  for (int c = 0; c < cols; ++c) {
    float v = row[c] * w[c] + row[c] / 3.0f;
    to[c] = row[c] > 1234.5f && row[c] < 1234.75f ? v + 1 : v;
  }
})"},
     DifferenceKind::kFunction,
     {{3, 37}},
     "it decides by comparing data"},
    {"NeighboursWeight",
     kMap,
     {KERNEL "{" ROW R"(
  for (int c = 0; c < cols; ++c) to[c] = row[c] * w[c == 20 ? 19 : c] + row[c] / 3.0f;
})"},
     DifferenceKind::kFunction},
    {"DropsToHalf",
     kSum,
     {"#include <cuda_fp16.h>\n" KERNEL "{" ROW R"(
  float s = 0;
  for (int c = 0; c < cols; ++c) s += __half2float(__float2half(row[c]));
  for (int c = 0; c < cols; ++c) to[c] = s;
})"},
     DifferenceKind::kAccuracy},
};

class Wrong : public testing::TestWithParam<WrongCase> {};
TEST_P(Wrong, IsDifferent) {
  const WrongCase& c = GetParam();
  const core::Equivalence answer = Compare(c.original, c.candidate, c.shapes);
  const auto* different = std::get_if<core::Different>(&answer.outcome);
  ASSERT_NE(different, nullptr) << Say(answer);
  const auto found = std::find_if(different->differences.begin(), different->differences.end(),
                                  [&](const core::Difference& d) { return d.kind == c.kind; });
  ASSERT_NE(found, different->differences.end()) << Say(answer);
  EXPECT_EQ(found->input.buffers.size(), 3u);
  EXPECT_EQ(found->outputs.size(), c.kind == DifferenceKind::kEarlierCall ? 3u : 0u);
  const bool remarked = std::any_of(answer.remarks.begin(), answer.remarks.end(),
                                    [&](const std::string& r) { return r.find(c.remark) != std::string::npos; });
  EXPECT_TRUE(*c.remark == '\0' || remarked) << Say(answer);
}
INSTANTIATE_TEST_SUITE_P(Equivalence, Wrong, testing::ValuesIn(kWrong),
                         [](const auto& each) { return each.param.name; });

// What an output depends on only through its own path cannot be claimed for other data.
TEST(Equivalence, LoopsOverDataAreNotComparable) {
  const Version loop = {KERNEL "{" ROW R"(
  for (int c = 0; c < cols; ++c) {
    float v = fabsf(row[c]) + 1;
    while (v < 100) v *= v + 1;
    to[c] = v;
  }
})"};
  const core::Equivalence answer = Compare(loop, {KERNEL "{" ROW R"(
  for (int c = 0; c < cols; ++c) {
    float v = 1 + fabsf(row[c]);
    while (v < 100) v *= 1 + v;
    to[c] = v;
  }
})"});
  const auto* not_comparable = std::get_if<core::NotComparable>(&answer.outcome);
  ASSERT_NE(not_comparable, nullptr) << Say(answer);
  EXPECT_EQ(not_comparable->blocker, "branch on data");
  EXPECT_FALSE(not_comparable->candidate);
}

TEST(Equivalence, LimitsHold) {
  core::EquivalenceRequest request = Request({{3, 37}});
  request.node_limit = 100;
  const auto answer = CompareEntries(request, PrepareOf(kNorm), PrepareOf(kNorm));
  ASSERT_TRUE(answer);
  const auto* not_comparable = std::get_if<core::NotComparable>(&answer->outcome);
  ASSERT_NE(not_comparable, nullptr);
  EXPECT_EQ(not_comparable->blocker, "node limit");
}

}  // namespace
}  // namespace warpwright::lift
