// Every file of cases/ is sliced, recorded and compiled; its comments give the expected result.
#include "source/record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "base/file.h"
#include "tests/unit/source/case_file.h"
#include "tests/unit/source/support.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> CaseFiles() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(WW_SOURCE_DIR) / "tests/unit/source/cases")) {
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<source::RecordOutcome> Record(const SourceCase& c, const source::Slices& slices) {
  source::RecordRequest request;
  request.spec = &c.spec;
  request.scalars = c.scalars;
  request.buffers = c.buffers;
  request.chip = TestChip();
  request.cache = CompiledCache();
  request.run_deadline = std::chrono::seconds(10);
  return source::RecordPlan(slices, request);
}

void ExpectRefusal(const SourceCase& c, const core::Refused& refused) {
  ASSERT_FALSE(c.refusal.empty()) << "refused: " << refused.reason << " @ " << refused.file << ":" << refused.line;
  EXPECT_NE(refused.reason.find(c.refusal), std::string::npos) << refused.reason;
  EXPECT_EQ(refused.line, c.refusal_line) << refused.reason;
  EXPECT_FALSE(refused.file.empty());
}

class RecordCase : public testing::TestWithParam<fs::path> {};

TEST_P(RecordCase, SlicesRecordsAndCompiles) {
  const SourceCase c = ReadCase(GetParam());
  const core::SourceRef source{GetParam().parent_path().string(), GetParam().filename().string(), c.text};
  const auto sliced = source::Slice(source, c.spec.entry);
  ASSERT_TRUE(sliced) << sliced.error().Format();
  if (const auto* refused = std::get_if<core::Refused>(&*sliced)) return ExpectRefusal(c, *refused);
  const source::Slices& slices = std::get<source::Slices>(*sliced);
  // Line numbers are unchanged.
  EXPECT_EQ(std::count(slices.device.begin(), slices.device.end(), '\n'),
            std::count(c.text.begin(), c.text.end(), '\n'));
  const auto recorded = Record(c, slices);
  ASSERT_TRUE(recorded) << recorded.error().Format();
  if (const auto* refused = std::get_if<core::Refused>(&*recorded)) return ExpectRefusal(c, *refused);
  const core::LaunchPlan& plan = std::get<source::Recorded>(*recorded).plan;
  ASSERT_TRUE(c.refusal.empty()) << "it was recorded, and should be refused: " << c.refusal;
  std::string expected, actual;
  for (const std::string& line : c.expected) expected += "// expect: " + line + "\n";
  for (const std::string& line : Describe(plan)) actual += "// expect: " + line + "\n";
  EXPECT_EQ(actual, expected);
  ExpectCompiles(slices, plan);
}

// Folders, definitions, the standard and flags of the project reach the parser, both slices and both compilers.
TEST(BuildOptions, HoldForLauncherAndKernels) {
  const auto folder = *base::TemporaryDirectory::Create("ww-build");
  ASSERT_TRUE(base::WriteFileAtomically(folder.path() / "third_party/x/scale.cuh",
                                        "#pragma once\n#if TILE != 32\n#error no tile\n#endif\n"
                                        "constexpr float kScale = 3;\nconstexpr int kBlocks = 2;\n"));
  const std::string text =
      "#include <scale.cuh>\n"
      "template <class T> concept Any = true;\n"
      "#ifdef EXTRA\n"
      "template <Any T> __global__ void rows(T* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = sinf(kScale / x[0]); "
      "}\n"
      "#endif\n"
      "void run(REAL* x, int n) { KERNEL<REAL><<<kBlocks * n / TILE, TILE>>>(x, n); }\n";
  core::BuildOptions build;
  build.include = {"third_party/x"};
  build.define = {{"TILE", "32"}, {"REAL", "float"}, {"EXTRA", ""}, {"KERNEL", "rows"}};
  build.standard = core::CxxStandard::k20;
  core::KernelSpec spec;
  spec.entry = "run";
  spec.args = {{"x", core::BufferArgument{}}, {"n", core::ScalarArgument{}}};
  source::RecordRequest request;
  request.spec = &spec;
  request.scalars = {{"n", int64_t{64}}};
  request.buffers = {{"x", 256}};
  request.chip = TestChip();
  request.cache = CompiledCache();
  std::string ptx[2];
  for (const bool fast : {false, true}) {
    if (fast) build.flags.insert(core::BuildFlag::kUseFastMath);
    const auto sliced = source::Slice({folder.path().string(), "src/a.cu", text, build}, "run");
    ASSERT_TRUE(sliced && std::holds_alternative<source::Slices>(*sliced)) << std::get<core::Refused>(*sliced).reason;
    const auto& slices = std::get<source::Slices>(*sliced);
    const auto recorded = source::RecordPlan(slices, request);
    ASSERT_TRUE(recorded) << recorded.error().Format();
    ASSERT_TRUE(std::holds_alternative<source::Recorded>(*recorded)) << std::get<core::Refused>(*recorded).reason;
    const core::LaunchPlan& plan = std::get<source::Recorded>(*recorded).plan;
    ASSERT_EQ(plan.ops.size(), 1u);
    const auto& launch = std::get<core::KernelLaunch>(plan.ops[0]);
    EXPECT_EQ(launch.kernel, "rows<float>");
    EXPECT_EQ(launch.grid.x, 4u);
    EXPECT_EQ(launch.block.x, 32u);
    const auto compiled = TheCompiler().Compile(ProgramOf(slices, plan));
    ASSERT_TRUE(compiled && std::holds_alternative<core::CompiledModule>(*compiled))
        << std::get<core::CompileFailed>(*compiled).log;
    ptx[fast] = std::get<core::CompiledModule>(*compiled).ptx;
    build.define["TILE"] = "16";  // another compile, not the cached one
    const auto other = source::Slice({folder.path().string(), "src/a.cu", text, build}, "run");
    ASSERT_TRUE(other);
    EXPECT_NE(std::get<source::Slices>(*other).Digest(), slices.Digest());
    build.define["TILE"] = "32";
  }
  EXPECT_EQ(ptx[0].find("sin.approx"), std::string::npos);
  EXPECT_NE(ptx[1].find("sin.approx.ftz"), std::string::npos);
  EXPECT_NE(ptx[1].find("div.approx.ftz"), std::string::npos);
}

// The launcher is compiled once for all candidates that differ in device code only, and its line numbers are correct in
// each.
constexpr const char* kLauncher = R"(#include "include/check.cuh"
#define BLOCK 64
#define TILE 4

// Adds.
__global__ void k(float* x, int n) {
  for (int i = threadIdx.x; i < n; i += BLOCK) x[i] += TILE;
}

void run(float* x, int n) {
  CUDA_CHECK(cudaMemset(x, 0, n * sizeof(float)));
  k<<<1, BLOCK>>>(x, n);
  CUDA_CHECK(cudaGetLastError());
}
)";

struct DeviceEdit {
  const char* name;
  const char *from, *to;
  int line;       // of the launch
  bool rebuilds;  // the launcher
};
const DeviceEdit kDeviceEdits[] = {
    {"Body", "x[i] += TILE;\n", "{\n    const float y = x[i];\n\n    x[i] = y * y;\n  }\n", 16, false},
    {"Comment", "// Adds.\n", "/* Adds\n   up. */\n", 13, false},
    {"Macro", "#define TILE 4", "#define TILE 8\n#define HALF(x) ((x) / 2)", 13, false},
    {"Helper", "// Adds.\n", "__device__ float f(float x) {\n  return x;\n}\n\n", 15, false},
    {"Structure", "// Adds.\n", "struct Pair {\n  float x, y;\n};\n", 14, false},
    {"LaunchBounds", "void k(", "void __launch_bounds__(BLOCK, 2) k(", 12, false},
    {"DeviceHeader", "#define BLOCK", "#include <cooperative_groups.h>\n#define BLOCK", 13, false},
    {"Unrolled", "  for", "#pragma unroll 4\n  for", 13, false},
    {"Restrict", "float* x, int n) {\n  for", "float* __restrict__ x, int n) {\n  for", 12, true},
    {"Launch", "k<<<1, BLOCK>>>", "k<<<2, BLOCK>>>", 12, true},
    {"BlockOfTheLaunch", "#define BLOCK 64", "#define BLOCK 32", 12, true},
    {"Signature", "float* x, int n) {\n  for", "float* x, long n) {\n  for", 12, true},
};

// To which no other program adds recorders at the same time. The shim is everybody's.
const fs::path& OwnCache() {
  static const base::TemporaryDirectory folder = [] {
    auto made = std::move(*base::TemporaryDirectory::Create("ww-source-test"));
    for (const auto& entry : fs::directory_iterator(CompiledCache())) {
      const fs::path name = entry.path().filename();
      if (name.string().starts_with("shim-")) fs::create_directory_symlink(entry.path(), made.path() / name);
    }
    return made;
  }();
  return folder.path();
}

size_t Recorders() {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(OwnCache()))
    count += entry.path().filename().string().starts_with("recorder-") ? 1 : 0;
  return count;
}

class RecordDeviceEdit : public testing::TestWithParam<DeviceEdit> {};

TEST_P(RecordDeviceEdit, RebuildsTheLauncherOnlyWhereItIsAnother) {
  const DeviceEdit& edit = GetParam();
  core::KernelSpec spec;
  spec.entry = "run";
  core::BufferArgument buffer;
  buffer.shape = {core::Expression::Constant(64)};
  spec.args = {{"x", buffer, 0}, {"n", core::ScalarArgument{core::DType::kI32}, 0}};
  core::Case c;
  c.scalars = {{"n", int64_t{64}}};
  const auto launch_line = [&](const std::string& text) {
    const std::string root = (fs::path(WW_SOURCE_DIR) / "tests/unit/source/cases").string();
    const auto sliced = source::Slice({root, "ww-edit.cu", text}, spec.entry);
    source::RecordRequest request = RequestFor(spec, c);
    request.cache = OwnCache();
    const auto recorded = source::RecordPlan(std::get<source::Slices>(*sliced), request);
    if (!recorded) throw std::runtime_error(recorded.error().Format());
    return std::get<core::KernelLaunch>(std::get<source::Recorded>(*recorded).plan.ops.at(1)).line;
  };
  EXPECT_EQ(launch_line(kLauncher), 12);
  const size_t before = Recorders();
  std::string edited = kLauncher;
  const size_t at = edited.find(edit.from);
  ASSERT_NE(at, std::string::npos);
  edited.replace(at, std::string(edit.from).size(), edit.to);
  EXPECT_EQ(launch_line(edited), edit.line);
  EXPECT_EQ(Recorders() - before, edit.rebuilds ? 2u : 0u);
}

// A size at which another path begins, and that no text names; and host code that takes long.
TEST(Record, TellsWhatTheLauncherComparesAndTakes) {
  core::KernelSpec spec;
  spec.entry = "run";
  core::BufferArgument buffer;
  buffer.shape = {core::Expression::Constant(64)};
  spec.args = {{"x", buffer, 0}, {"n", core::ScalarArgument{core::DType::kI32}, 0}};
  core::Case c;
  c.scalars = {{"n", int64_t{640}}};
  const auto record = [&](const std::string& body) {
    const std::string text =
        "__global__ void k(float* x, int n) { x[threadIdx.x] = n; }\n"
        "static long Power(int of) { return of > 0 ? 10 * Power(of - 1) : 1; }\n"
        "void run(float* x, int n) {\n" +
        body + "  k<<<1, 64>>>(x, n);\n}\n";
    const auto sliced = source::Slice({WW_SOURCE_DIR, "ww-host.cu", text}, spec.entry);
    const auto recorded = source::RecordPlan(std::get<source::Slices>(*sliced), RequestFor(spec, c));
    if (!recorded) throw std::runtime_error(recorded.error().Format());
    return std::get<source::Recorded>(*recorded);
  };
  const auto has = [](const source::Recorded& recorded, double number) {
    return std::find(recorded.compared.begin(), recorded.compared.end(), number) != recorded.compared.end();
  };
  const source::Recorded plain = record("");
  EXPECT_FALSE(has(plain, 3e6));
  EXPECT_LT(plain.host_us, 200);
  const source::Recorded compares = record("  if (n > 3 * Power(6)) return;\n");
  EXPECT_TRUE(has(compares, 3e6));
  EXPECT_TRUE(has(compares, 640));
  EXPECT_NE(std::find(compares.decisions.begin(), compares.decisions.end(), core::Decision{640, 3e6, false}),
            compares.decisions.end());
  const source::Recorded slow = record(
      "  volatile double sum = 0;\n"
      "  for (int i = 0; i < 2000000; ++i) sum = sum + n * 0.5;\n");
  EXPECT_GT(slow.host_us, 500);
}

INSTANTIATE_TEST_SUITE_P(Table, RecordDeviceEdit, testing::ValuesIn(kDeviceEdits),
                         [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(Files, RecordCase, testing::ValuesIn(CaseFiles()),
                         [](const auto& info) { return info.param.stem().string(); });

// A static workspace, and one that each call makes.
TEST(Record, TellsWhatCallsShare) {
  core::KernelSpec spec;
  spec.name = spec.entry = "scale";
  spec.file = "scale.cu";
  const std::vector<core::Expression> shape = {*core::Expression::Parse("n")};
  spec.args = {{"out", core::BufferArgument{core::DType::kF32, shape, core::Role::kOut, {}, 256}, 0},
               {"n", core::ScalarArgument{core::DType::kI32, {}}, 0}};
  core::Case c;
  c.scalars["n"] = int64_t{1000};
  const std::string text =
      "#include <cuda_runtime.h>\n"
      "__global__ void k(float* out, float* a, float* b) { out[0] = a[0] + b[0]; }\n"
      "void scale(float* out, int n, cudaStream_t stream) {\n"
      "  static float* all = nullptr;\n"
      "  static int length = 0;\n"
      "  if (length < n) {\n    cudaFree(all);\n    cudaMalloc(&all, 4 * n);\n    length = n;\n  }\n"
      "  float* own = nullptr;\n"
      "  cudaMallocAsync(&own, 8 * n, stream);\n"
      "  k<<<1, 1, 0, stream>>>(out, all, own);\n"
      "  cudaFreeAsync(own, stream);\n}\n";
  const auto sliced = source::Slice({"/", "scale.cu", text}, "scale");
  ASSERT_TRUE(sliced) << sliced.error().Format();
  const auto recorded = source::RecordPlan(std::get<source::Slices>(*sliced), RequestFor(spec, c));
  ASSERT_TRUE(recorded) << recorded.error().Format();
  ASSERT_TRUE(std::holds_alternative<source::Recorded>(*recorded)) << std::get<core::Refused>(*recorded).reason;
  const core::LaunchPlan& plan = std::get<source::Recorded>(*recorded).plan;
  EXPECT_TRUE(plan.has_callers_stream);
  ASSERT_EQ(plan.buffers.size(), 3u);
  for (const core::PlanBuffer& buffer : plan.buffers)
    EXPECT_EQ(buffer.kept, buffer.bytes == 4000 && &buffer != &plan.buffers[0]) << buffer.name;
}

}  // namespace
}  // namespace warpwright
