// The splicer's guarantee: the spliced file launches the same kernels in the same way, with the same machine code, as
// the edited file. Both are recorded and compiled here, and the cubins compared byte by byte; they are compiled without
// line information, since a minimal diff moves lines.
#include <gtest/gtest.h>

#include <regex>

#include "base/file.h"
#include "config/manifest.h"
#include "rewrite/transform.h"
#include "source/splice.h"
#include "tests/unit/source/support.h"

namespace warpwright {
namespace {

struct Built {
  std::vector<std::string> plans;  // digests, by case
  std::string cubin;
};

// NVRTC marks names of internal linkage with a number that differs in every compilation, even of the same text:
// "_INTERNAL_00000000_14_softmax_cu_e30b4298_2238118".
std::string WithoutChance(const std::string& cubin) {
  static const std::regex kNumber("(_INTERNAL_0{8}_[0-9]+_[A-Za-z0-9_]*_cu_)[0-9a-f]{8}_");
  return std::regex_replace(cubin, kNumber, "$1_");
}

Built Build(const core::SourceRef& source, const core::KernelSpec& spec) {
  const auto sliced = source::Slice(source, spec.entry);
  if (!sliced) throw std::runtime_error(sliced.error().Format());
  if (const auto* refused = std::get_if<core::Refused>(&*sliced)) throw std::runtime_error(refused->reason);
  const source::Slices& slices = std::get<source::Slices>(*sliced);
  Built built;
  compile::CompileRequest program;
  for (const core::Case& c : spec.cases) {
    const auto recorded = source::RecordPlan(slices, RequestFor(spec, c));
    if (!recorded) throw std::runtime_error(recorded.error().Format());
    if (const auto* refused = std::get_if<core::Refused>(&*recorded)) throw std::runtime_error(refused->reason);
    const core::LaunchPlan& plan = std::get<source::Recorded>(*recorded).plan;
    built.plans.push_back(source::PlanDigest(plan));
    program = ProgramOf(slices, plan);
  }
  program.line_info = false;
  const auto compiled = TheCompiler().Compile(program);
  if (!compiled) throw std::runtime_error(compiled.error().Format());
  if (const auto* failed = std::get_if<core::CompileFailed>(&*compiled)) throw std::runtime_error(failed->log);
  const std::vector<std::byte>& cubin = std::get<core::CompiledModule>(*compiled).cubin;
  built.cubin = WithoutChance({reinterpret_cast<const char*>(cubin.data()), cubin.size()});
  return built;
}

// The spliced text, which is checked to be equivalent to `edited`.
std::string ExpectIdentity(const core::SourceRef& original, const std::string& edited, const core::KernelSpec& spec) {
  const auto spliced = source::Splice({original, edited, spec.entry});
  if (!spliced) throw std::runtime_error(spliced.error().Format());
  if (const auto* refused = std::get_if<core::Refused>(&*spliced)) {
    ADD_FAILURE() << "refused: " << refused->reason;
    return {};
  }
  const std::string& text = std::get<core::Rewritten>(*spliced).text;
  const Built before = Build({original.root, original.file, edited}, spec);
  const Built after = Build({original.root, original.file, text}, spec);
  EXPECT_FALSE(before.plans.empty());
  EXPECT_FALSE(before.cubin.empty());
  EXPECT_EQ(before.plans, after.plans);
  EXPECT_TRUE(before.cubin == after.cubin) << text;
  return text;
}

const std::filesystem::path kExamples = std::filesystem::path(WW_SOURCE_DIR) / "config/examples/kernels";

class ExampleIdentity : public testing::TestWithParam<core::KernelSpec> {};

// The output of a transformation, and the same below a file header that the splice drops, so that lines always move.
TEST_P(ExampleIdentity, OfEveryTransformation) {
  const core::KernelSpec& spec = GetParam();
  const auto text = base::ReadFile(kExamples / spec.file);
  ASSERT_TRUE(text);
  const core::SourceRef original{kExamples.string(), spec.file, *text};
  int applied = 0;
  for (const rewrite::Transform& transform : rewrite::Transforms()) {
    const auto rewritten = rewrite::ApplyTransform({original, spec.entry, "", std::string(transform.id), {}});
    ASSERT_TRUE(rewritten) << rewritten.error().Format();
    const auto* result = std::get_if<core::Rewritten>(&*rewritten);
    if (result == nullptr) continue;
    SCOPED_TRACE(transform.id);
    ++applied;
    const std::string edited = "// Written by another hand.\n\n\n" + result->text;
    EXPECT_NE(ExpectIdentity(original, edited, spec), edited);
  }
  EXPECT_GT(applied, 0);
}

std::vector<core::KernelSpec> ExampleSpecs() {
  auto manifest = config::LoadManifest(kExamples);
  if (!manifest) throw std::runtime_error(manifest.error().Format());
  return manifest->kernels;
}
INSTANTIATE_TEST_SUITE_P(Kernels, ExampleIdentity, testing::ValuesIn(ExampleSpecs()),
                         [](const auto& info) { return info.param.name; });

constexpr const char* kOriginal = R"(// Two entries, and what kernels are made of.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cassert>
#include <stdio.h>
#define BLOCK 128  // threads
#define SCALE(x) ((x) * scale_factor)

__constant__ float scale_factor;

namespace {
__device__ float  square(float x)   { return x*x; }

/* Of any type. */
template <typename T, int N>
struct Pack { T values[N]; };
}  // namespace

template <typename T, int N>
__global__ void rows(T* out, const T* in, int n) {
  __shared__ float part[BLOCK];
  Pack<float, N> sums = {};
  for (int i = threadIdx.x; i < n; i += BLOCK) {
#pragma unroll
    for (int k = 0; k < N; ++k) sums.values[k] += square(in[blockIdx.x * n + i]) + k;
  }
  part[threadIdx.x] = SCALE(sums.values[N - 1]);
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < BLOCK; ++i) sum += part[i];
    out[blockIdx.x] = sum;
  }
}

void run(float* out, const float* in, int m, int n) {
  const float factor = 0.5f;
  cudaMemcpyToSymbol(scale_factor, &factor, sizeof(factor));
  rows<float, 2><<<m, BLOCK>>>(out, in, n);
}

__global__ void other_kernel(float* x) { x[threadIdx.x] = __half2float(__float2half(x[threadIdx.x])); }
void other(float* x) { other_kernel<<<1, BLOCK>>>(x); printf("done\n"); }
)";

struct Edit {
  const char* name;
  std::vector<std::pair<const char*, const char*>> replacements;  // the first occurrence of each
};
const Edit kEdits[] = {
    {"Nothing", {}},
    {"LinesAbove", {{"// Two entries", "// One.\n\n// Two.\n\n// Two entries"}, {"sum = 0;", "sum = 1;"}}},
    {"Comments",
     {{"/* Of any type. */\n", "// Of any type:\n// a few values.\n"},
      {"  __syncthreads();", "  // All have written.\n  __syncthreads();  /* one\n  two */"},
      {"i += BLOCK) {\n#pragma", "i += 1 * BLOCK) {\n#pragma"}}},
    {"Layout", {{"return x*x;", "\n  return x * x;\n"}, {"float sum = 0;", "float sum\n      = 2;"}}},
    {"NewMacro",
     {{"#define SCALE", "#define HALF(x) \\\n  ((x) / 2)\n#define SCALE"}, {"= SCALE(sums", "= HALF(1) + SCALE(sums"}}},
    {"MacroInFrontOfTheKernel",
     {{"template <typename T, int N>\n__global__", "#define LAST (N - 1)\n\ntemplate <typename T, int N>\n__global__"},
      {"sums.values[N - 1]", "sums.values[LAST]"}}},
    {"NewTemplate",
     {{"template <typename T, int N>\n__global__",
       "// Twice.\ntemplate <typename T>\n__device__ T twice(T x) {\n  return x + x;\n}\n\n"
       "template <typename T, int N>\n__global__"},
      {"+= square(in", "+= twice<float>(1) + square(in"}}},
    {"OverloadInFront",
     {{"__device__ float  square", "__device__ double square(double x) { return x; }\n__device__ float  square"},
      {"square(in[", "square((double)in["}}},
    {"HelperInNamespace",
     {{"/* Of any", "__device__ float cube(float x) { return x * x * x; }\n\n/* Of any"}, {"square(in", "cube(in"}}},
    {"TemplateArguments", {{"rows<float, 2>", "rows<float, 4>"}}},
    {"LauncherAndKernel",
     {{"<<<m, BLOCK>>>", "<<<dim3(m), dim3(BLOCK), 0>>>"}, {"0.5f", "0.25f"}, {"sum += part[i];", "sum -= part[i];"}}},
    {"RenamedKernel", {{"__global__ void rows", "__global__ void rows_by_blocks"}, {"  rows<", "  rows_by_blocks<"}}},
    {"NewInclude",
     {{"#include <stdio.h>\n", "#include <stdio.h>\n#include <cooperative_groups.h>\n"},
      {"  __syncthreads();", "  cooperative_groups::this_thread_block().sync();"}}},
    {"DroppedIncludes", {{"#include <stdio.h>\n", ""}, {"#include <cuda_fp16.h>\n", ""}, {"sum = 0;", "sum = 3;"}}},
    {"DroppedRuntimeHeader", {{"#include <cuda_runtime.h>\n", ""}, {"sum = 0;", "sum = 3;"}}},
};

class EditIdentity : public testing::TestWithParam<Edit> {};

TEST_P(EditIdentity, OfPlanAndCode) {
  core::KernelSpec spec;
  spec.entry = "run";
  for (const char* name : {"out", "in"}) {
    core::BufferArgument buffer;
    buffer.shape = {core::Expression::Constant(64)};
    spec.args.push_back({name, buffer, 0});
  }
  for (const char* name : {"m", "n"}) {
    core::ScalarArgument scalar;
    scalar.dtype = core::DType::kI32;
    spec.args.push_back({name, scalar, 0});
  }
  core::Case c;
  c.scalars = {{"m", int64_t{4}}, {"n", int64_t{16}}};
  spec.cases = {c};
  const core::SourceRef original{"/tmp", "ww-identity.cu", kOriginal};
  std::string edited = kOriginal;
  for (const auto& [from, to] : GetParam().replacements) {
    const size_t at = edited.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    edited.replace(at, std::string(from).size(), to);
  }
  ExpectIdentity(original, edited, spec);
}

INSTANTIATE_TEST_SUITE_P(Table, EditIdentity, testing::ValuesIn(kEdits),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace warpwright
