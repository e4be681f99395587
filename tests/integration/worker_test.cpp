// The real worker, as warpwright starts it, on small sources: its calls, and what a hostile source may attempt.
#include <gtest/gtest.h>

#include <cstring>

#include "base/file.h"
#include "base/subprocess.h"
#include "tests/support/worker_process.h"

namespace warpwright {
namespace {

constexpr const char* kSource = R"(#include <cuda_runtime.h>
#include <stdio.h>
#include "scale.cuh"
// caf\xe9: a byte that is not UTF-8 follows: )"
                                "\xe9"
                                R"(
__global__ void scale_kernel(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = kScale * in[i];
}
void scale(float* out, const float* in, int n) {
  scale_kernel<<<(n + 127) / 128, 128>>>(out, in, n);
}
)";

class WorkerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new base::TemporaryDirectory(std::move(*base::TemporaryDirectory::Create("ww-worker-test")));
    ASSERT_TRUE(base::WriteFileAtomically(folder_->path() / "src/scale.cuh", "#pragma once\n#define kScale 2.0f\n"));
    worker_ = StartWorker(folder_->path()).release();
  }
  static void TearDownTestSuite() {
    delete worker_;
    delete folder_;
  }

  static core::SourceRef Source(const std::string& text) { return {folder_->path().string(), "src/scale.cu", text}; }

  static core::ExecuteRequest Request(const std::string& text, int n = 300) {
    core::ExecuteRequest r;
    r.source = Source(text);
    r.spec.name = "scale";
    r.spec.file = r.source.file;
    r.spec.entry = "scale";
    core::BufferArgument buffer;
    buffer.shape = {*core::Expression::Parse("n")};
    buffer.role = core::Role::kOut;
    r.spec.args.push_back({"out", buffer, 0});
    buffer.role = core::Role::kIn;
    r.spec.args.push_back({"in", buffer, 0});
    r.spec.args.push_back({"n", core::ScalarArgument{}, 0});
    r.case_name = "n";
    r.scalars = {{"n", int64_t{n}}};
    std::vector<std::byte> in(4 * static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) {
      const float value = static_cast<float>(i) / 4;
      std::memcpy(&in[4 * static_cast<size_t>(i)], &value, 4);
    }
    r.buffers = {{"out", std::vector<std::byte>(in.size(), std::byte{0xcc}), true, false, 0},
                 {"in", std::move(in), false, true, 0}};
    r.device = "sim:h200";
    r.options.counters = true;
    return r;
  }
  static core::ExecuteOutcome Execute(const core::ExecuteRequest& request) {
    auto outcome = worker_->Execute(request);
    if (!outcome) throw std::runtime_error(outcome.error().Format());
    return std::move(*outcome);
  }
  static std::string With(const std::string& body) {  // another body of the kernel
    std::string text = kSource;
    const std::string old = "if (i < n) out[i] = kScale * in[i];";
    return text.replace(text.find(old), old.size(), body);
  }
  static base::TemporaryDirectory* folder_;
  static worker::WorkerEvaluator* worker_;
};
base::TemporaryDirectory* WorkerTest::folder_ = nullptr;
worker::WorkerEvaluator* WorkerTest::worker_ = nullptr;

TEST_F(WorkerTest, RunsAndCounts) {
  const auto outcome = Execute(Request(kSource));
  if (const auto* failed = std::get_if<core::CompileFailed>(&outcome)) FAIL() << failed->log;
  if (const auto* refused = std::get_if<core::Refused>(&outcome))
    FAIL() << refused->check.text() << ": " << refused->reason;
  if (const auto* faulted = std::get_if<core::Faulted>(&outcome)) FAIL() << faulted->fault.message;
  const auto& executed = std::get<core::Executed>(outcome);
  ASSERT_EQ(executed.buffers.size(), 2u);
  for (size_t i = 0; i < 300; ++i) {
    float value = 0;
    std::memcpy(&value, executed.buffers[0].data() + 4 * i, 4);
    ASSERT_EQ(value, static_cast<float>(i) / 2);
  }
  ASSERT_EQ(executed.launches.size(), 1u);
  EXPECT_EQ(executed.launches[0].kernel, "scale_kernel");
  EXPECT_EQ(executed.launches[0].counters.blocks, 3u);
  EXPECT_GT(executed.launches[0].registers, 0);
  EXPECT_GT(executed.time_us, 0);
  EXPECT_TRUE(executed.modelled);
  for (const char* stage : {"slice", "record", "compile", "run"}) EXPECT_TRUE(executed.seconds.count(stage)) << stage;
}

TEST_F(WorkerTest, ARepeatedSourceCostsOnlyItsRun) {
  const auto first = std::get<core::Executed>(Execute(Request(kSource)));
  const auto again = std::get<core::Executed>(Execute(Request(kSource)));
  EXPECT_EQ(again.plan_digest, first.plan_digest);
  EXPECT_EQ(again.module_key, first.module_key);
  EXPECT_LT(again.seconds.at("slice") + again.seconds.at("record") + again.seconds.at("compile"), 0.01);
  worker_->Restart();  // a hit from the disk cache is nearly as fast
  const auto fresh = std::get<core::Executed>(Execute(Request(kSource)));
  EXPECT_EQ(fresh.module_key, first.module_key);
  EXPECT_LT(fresh.seconds.at("compile"), 0.2);
}

TEST_F(WorkerTest, OtherContentsAreRecordedAnewWhereTheLauncherReadsThem) {
  std::string reads = kSource;
  const std::string old = "scale_kernel<<<(n + 127) / 128";
  reads.replace(reads.find(old), old.size(),
                "float first; cudaMemcpy(&first, in, 4, cudaMemcpyDeviceToHost);\n"
                "  scale_kernel<<<(n + 127) / 128 + (first > 8 ? 1 : 0)");
  for (const bool read : {false, true}) {
    core::ExecuteRequest request = Request(read ? reads : kSource, 290);
    const auto first = std::get<core::Executed>(Execute(request));
    std::vector<std::byte> content = request.buffers[1].bytes.Copy();
    const float nine = 9;
    std::memcpy(content.data(), &nine, sizeof nine);
    request.buffers[1].bytes = std::move(content);
    const auto second = std::get<core::Executed>(Execute(request));
    EXPECT_EQ(second.plan_digest != first.plan_digest, read);
    if (!read) {
      EXPECT_LT(second.seconds.at("record"), 0.01);
    }
  }
}

// Whether a launcher was recorded ahead shows in nothing but the time.
TEST_F(WorkerTest, WhatWasRecordedAheadIsWhatWouldBeRecorded) {
  const auto sizes_of = [](const core::ExecuteRequest& request) {
    core::UpcomingCall call{.scalars = request.scalars, .buffers = {}};
    for (const core::BufferContent& buffer : request.buffers)
      call.buffers.push_back({.name = buffer.name, .bytes = {}, .repeated_bytes = buffer.bytes.size()});
    return call;
  };
  auto usual = [](int n) {
    core::ExecuteRequest request = Request(kSource, n);
    for (core::BufferContent& buffer : request.buffers) buffer.read_only = false;
    return request;
  };
  core::ExecuteRequest first = usual(301);
  for (const int n : {302, 303, 304, 305, 306, 307})
    first.upcoming.push_back(sizes_of(usual(n)));  // more than it begins
  ASSERT_TRUE(std::holds_alternative<core::Executed>(Execute(first)));
  const auto fresh = StartWorker(folder_->path());
  for (const int n : {303, 302, 307}) {
    const auto ahead = std::get<core::Executed>(Execute(usual(n)));
    const auto alone = fresh->Execute(usual(n));
    ASSERT_TRUE(alone);
    EXPECT_EQ(ahead.plan_digest, std::get<core::Executed>(*alone).plan_digest);
    EXPECT_EQ(ahead.buffers[0], std::get<core::Executed>(*alone).buffers[0]);
  }
}

TEST_F(WorkerTest, AnEditedHeaderIsANewSource) {
  ASSERT_TRUE(base::WriteFileAtomically(folder_->path() / "src/scale.cuh", "#pragma once\n#define kScale 3.0f\n"));
  const auto executed = std::get<core::Executed>(Execute(Request(kSource)));
  ASSERT_TRUE(base::WriteFileAtomically(folder_->path() / "src/scale.cuh", "#pragma once\n#define kScale 2.0f\n"));
  float value = 0;
  std::memcpy(&value, executed.buffers[0].data() + 4 * 4, 4);
  EXPECT_EQ(value, 3.0f);
}

TEST_F(WorkerTest, Inspects) {
  const auto inspection = worker_->Inspect(Source(kSource));
  ASSERT_TRUE(inspection) << inspection.error().Format();
  ASSERT_EQ(inspection->entries.size(), 2u);  // the kernel too, with a launch from the manifest
  EXPECT_EQ(inspection->headers, std::vector<std::string>{"src/scale.cuh"});
}

TEST_F(WorkerTest, RewritesAndSplicesWithTheUsersBytes) {
  const auto outcome = worker_->Rewrite({Source(kSource), "scale", "", "launch_retune", {{"block_size", "256"}}});
  ASSERT_TRUE(outcome) << outcome.error().Format();
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&*outcome)) FAIL() << refusal->reason;
  const auto& rewritten = std::get<core::Rewritten>(*outcome);
  EXPECT_NE(rewritten.text, kSource);
  EXPECT_NE(rewritten.text.find('\xe9'), std::string::npos);
  const auto spliced = worker_->Splice({Source(kSource), rewritten.text, "scale"});
  ASSERT_TRUE(spliced) << spliced.error().Format();
  if (const auto* refused = std::get_if<core::Refused>(&*spliced)) FAIL() << refused->reason;
  EXPECT_NE(std::get<core::Rewritten>(*spliced).text.find('\xe9'), std::string::npos);
}

TEST_F(WorkerTest, AKernelThatDoesNotCompile) {
  const auto outcome = Execute(Request(With("out[i] = nonsense;")));
  ASSERT_TRUE(std::holds_alternative<core::CompileFailed>(outcome));
  EXPECT_NE(std::get<core::CompileFailed>(outcome).log.find("src/scale.cu(7): error"), std::string::npos)
      << std::get<core::CompileFailed>(outcome).log;
}

TEST_F(WorkerTest, AForbiddenInstruction) {
  auto request = Request(With("if (i < n) out[i] = kScale * in[i] + (clock64() == 1);"));
  const auto outcome = Execute(request);
  ASSERT_TRUE(std::holds_alternative<core::Refused>(outcome));
  EXPECT_EQ(std::get<core::Refused>(outcome).check, core::Check::kPtxRules);
  EXPECT_EQ(std::get<core::Refused>(outcome).line, 7);
  EXPECT_EQ(std::get<core::Refused>(outcome).file, "src/scale.cu");
}

TEST_F(WorkerTest, AnOutOfBoundsWriteIsAFault) {
  const auto outcome = Execute(Request(With("if (i <= n) out[i] = kScale;")));
  ASSERT_TRUE(std::holds_alternative<core::Faulted>(outcome));
  const core::Fault& fault = std::get<core::Faulted>(outcome).fault;
  EXPECT_EQ(fault.kind, core::Fault::Kind::kOutOfBounds);
  EXPECT_EQ(fault.line, 7);
  EXPECT_EQ(fault.file, "src/scale.cu");
}

TEST_F(WorkerTest, FilesOfTheMachineCannotBeIncluded) {
  for (const char* include : {"#include \"/etc/passwd\"\n", "%:include </etc/hostname>\n",
                              "#inc\\\nlude \"/proc/self/environ\"\n", "#include \"../../../../../../etc/passwd\"\n"}) {
    const auto outcome = Execute(Request(include + std::string(kSource)));
    std::string said;  // a header that is not in the repository may also be omitted
    if (const auto* failed = std::get_if<core::CompileFailed>(&outcome)) said = failed->log;
    if (const auto* refused = std::get_if<core::Refused>(&outcome)) said = refused->reason;
    EXPECT_EQ(said.find("root:"), std::string::npos) << said;
    EXPECT_EQ(said.find("PATH="), std::string::npos) << said;
  }
}

// 2^30 instantiations, hidden from all but one of the tools that read the text: the parser or NVRTC would take hours
// and all memory. Each has its own worker, with limits that are short enough for a test.
const std::string kBomb = R"(
template <class A, class B> struct Pair {};
template <int N, class T> struct Bomb { static constexpr int value = Bomb<N - 1, Pair<T, int>>::value + Bomb<N - 1, Pair<T, char>>::value; };
template <class T> struct Bomb<0, T> { static constexpr int value = 1; };
)";
struct BombRow {
  const char *name, *condition, *message;
  int memory_gib;
};
class WorkerMeets : public WorkerTest, public testing::WithParamInterface<BombRow> {};
TEST_P(WorkerMeets, ATemplateBomb) {
  const auto request = Request(
      kBomb + With(std::string("\n#if ") + GetParam().condition + "\nout[i] = Bomb<30, float>::value;\n#endif\n"));
  worker::WorkerCommand command = WorkerCommandFor(folder_->path());
  command.argv.insert(command.argv.end(), {"--memory-gib", std::to_string(GetParam().memory_gib)});
  const std::chrono::milliseconds limit(GetParam().memory_gib == 1 ? 20'000 : 1'000);
  worker::WorkerEvaluator worker(command, {limit, std::chrono::milliseconds(60'000), limit, limit});
  const auto outcome = worker.Execute(request);
  ASSERT_TRUE(outcome) << outcome.error().Format();
  if (const auto* refused = std::get_if<core::Refused>(&*outcome))
    FAIL() << refused->check.text() << ": " << refused->reason;
  ASSERT_TRUE(std::holds_alternative<core::CompileFailed>(*outcome));
  const std::string& log = std::get<core::CompileFailed>(*outcome).log;
  EXPECT_NE(log.find(GetParam().message), std::string::npos) << log;
  EXPECT_NE(log.find("exceeded its limit"), std::string::npos) << log;
}
INSTANTIATE_TEST_SUITE_P(
    All, WorkerMeets,
    testing::Values(BombRow{"parser_time", "!defined(__CUDACC_RTC__)", "the parser exceeded", 16},
                    BombRow{"compiler_time", "defined(__CUDACC_RTC__)", "the compiler exceeded", 16},
                    BombRow{"compiler_memory", "defined(__CUDACC_RTC__)", "the compiler exceeded", 1}),
    [](const auto& info) { return info.param.name; });

TEST(WorkerProgram, LinksNoCudaLibrary) {
  const auto program = std::filesystem::path(WW_BINARY_DIR) / "daemon/cli/warpwright-worker";
  const auto dynamic = warpwright::base::Run({{"readelf", "-d", program.string()}, base::MinimalEnvironment()});
  ASSERT_TRUE(dynamic && dynamic->exit_code == 0);
  for (const char* library : {"libcuda", "libnvrtc", "libcupti", "libcudart"})
    EXPECT_EQ(dynamic->out.find(library), std::string::npos) << library;
}

}  // namespace
}  // namespace warpwright
