// What a model is told of a version that failed, by the real worker: each kind of mistake is planted into a correct
// source and mended from the message alone, by code that knows nothing else of the mistake.
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <set>
#include <sstream>

#include "agents/briefing.h"
#include "base/file.h"
#include "tests/support/worker_process.h"

namespace warpwright {
namespace {

// Line by line: the rows below name what they change.
const std::vector<std::string> kCorrect = {
    "#include <cuda_runtime.h>",                                                                // 1
    "__device__ float twice(float v) {",                                                        // 2
    "  return 2 * v;",                                                                          // 3
    "}",                                                                                        // 4
    "__global__ void reverse(float* out, const float* in, int n) {",                            // 5
    "  __shared__ float tile[64];",                                                             // 6
    "  const int i = blockIdx.x * 64 + threadIdx.x;",                                           // 7
    "  const int last = (n - (int)blockIdx.x * 64 < 64 ? n - (int)blockIdx.x * 64 : 64) - 1;",  // 8
    "  if (i < n) tile[threadIdx.x] = twice(in[i]);",                                           // 9
    "  __syncthreads();",                                                                       // 10
    "  if (i < n) out[i] = tile[last - threadIdx.x];",                                          // 11
    "}",                                                                                        // 12
    "void reverse_blocks(float* out, const float* in, int n) {",                                // 13
    "  const int blocks = (n + 63) / 64;",                                                      // 14
    "  reverse<<<blocks, 64>>>(out, in, n);",                                                   // 15
    "}",                                                                                        // 16
};
constexpr int kElements = 100;

std::string Join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The lines of the user's file that a message names: "src/reverse.cu:9", "src/reverse.cu(9)", "line 9".
std::set<int> LinesIn(const std::string& message) {
  static const std::regex pattern(R"((?:reverse\.cu[:(]|\bline )(\d+))");
  std::set<int> lines;
  for (std::sregex_iterator at(message.begin(), message.end(), pattern), end; at != end; ++at)
    lines.insert(std::stoi((*at)[1]));
  return lines;
}

class Messages : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new base::TemporaryDirectory(std::move(*base::TemporaryDirectory::Create("ww-messages")));
    worker_ = StartWorker(folder_->path()).release();
  }
  static void TearDownTestSuite() {
    delete worker_;
    delete folder_;
  }

  // What a prompt says of this source; empty: it ran, and its results are right.
  static std::string MessageOf(const std::vector<std::string>& lines) {
    core::ExecuteRequest request;
    request.source = {folder_->path().string(), "src/reverse.cu", Join(lines)};
    request.spec.name = request.spec.entry = "reverse_blocks";
    request.spec.file = request.source.file;
    core::BufferArgument buffer;
    buffer.shape = {*core::Expression::Parse("n")};
    buffer.role = core::Role::kOut;
    request.spec.args.push_back({"out", buffer, 0});
    buffer.role = core::Role::kIn;
    request.spec.args.push_back({"in", buffer, 0});
    request.spec.args.push_back({"n", core::ScalarArgument{}, 0});
    request.case_name = "n";
    request.scalars = {{"n", int64_t{kElements}}};
    std::vector<float> in(kElements);
    for (int i = 0; i < kElements; ++i) in[static_cast<size_t>(i)] = static_cast<float>(i);
    const auto* bytes = reinterpret_cast<const std::byte*>(in.data());
    request.buffers = {{"out", std::vector<std::byte>(4 * kElements, std::byte{0xcc}), true, false, 0},
                       {"in", std::vector<std::byte>(bytes, bytes + 4 * kElements), false, true, 0}};
    request.device = "sim:h200";
    const auto outcome = worker_->Execute(request);
    if (!outcome) return outcome.error().Format();
    return std::visit(Overload{[](const core::Executed&) { return std::string(); },
                               [](const auto& failed) { return agents::VerdictText(failed); }},
                      *outcome);
  }

  static base::TemporaryDirectory* folder_;
  static worker::WorkerEvaluator* worker_;
};
base::TemporaryDirectory* Messages::folder_ = nullptr;
worker::WorkerEvaluator* Messages::worker_ = nullptr;

struct Mistake {
  const char* what;
  int line;  // that is changed
  const char* text;
  int second_line = 0;
  const char* second_text = "";
};

TEST_F(Messages, TheCorrectSourceRuns) { EXPECT_EQ(MessageOf(kCorrect), ""); }

// What a line alone is wrong about: the message names it, and putting it right is enough.
TEST_F(Messages, NameTheLineThatIsWrong) {
  const Mistake mistakes[] = {
      {"an unknown name on the device", 3, "  return 2 * w;"},
      {"two errors in two functions", 3, "  return 2 * w;", 11, "  if (i < n) out[j] = tile[last - threadIdx.x];"},
      {"a type", 7, "  const int i = \"here\";"},
      {"an unknown name on the host", 14, "  const int blocks = (m + 63) / 64;"},
      {"two errors on the host", 14, "  const int blocks = (m + 63) / 64;", 15,
       "  reverse<<<blocks, 64>>>(out, on, n);"},
      {"an access beyond the end", 9, "  tile[threadIdx.x] = twice(in[i]);"},
      {"an index before the beginning", 11, "  if (i < n) out[i - 1] = tile[last - threadIdx.x];"},
      {"a read of what nobody wrote", 11, "  if (i < n) out[i] = tile[63 - threadIdx.x];"},
      {"a vector across an odd address", 9,
       "  if (i < n) tile[threadIdx.x] = ((const float2*)(in + 1))[0].x + ((const float2*)(in + 1))[0].y;"},
      {"a barrier that some threads miss", 10, "  if (threadIdx.x < 40) __syncthreads();"},
      {"PTX that the assembler does not know", 3, "  asm(\"add.f33 %0, %0, %0;\" : \"+f\"(v)); return v;"},
      {"PTX on a line of its own", 9,
       "  if (i < n) asm volatile(\"st.shared.f32 [%0], %1\" :: \"r\"(0), \"f\"(twice(in[i])));"},
      {"a block that is too large", 15, "  reverse<<<blocks, 2048>>>(out, in, n);"},
      {"a grid of nothing", 15, "  reverse<<<blocks / 64, 64>>>(out, in, n);"},
  };
  for (const Mistake& mistake : mistakes) {
    std::vector<std::string> lines = kCorrect;
    lines[static_cast<size_t>(mistake.line - 1)] = mistake.text;
    if (mistake.second_line > 0) lines[static_cast<size_t>(mistake.second_line - 1)] = mistake.second_text;
    const std::string message = MessageOf(lines);
    ASSERT_NE(message, "") << mistake.what;
    for (const int line : LinesIn(message))
      if (line >= 1 && line <= static_cast<int>(lines.size()))
        lines[static_cast<size_t>(line - 1)] = kCorrect[static_cast<size_t>(line - 1)];
    EXPECT_EQ(Join(lines), Join(kCorrect)) << mistake.what << "\n" << message;
  }
}

// Where something is missing: the message names both sides of the place.
TEST_F(Messages, NameBothSidesOfARace) {
  std::vector<std::string> lines = kCorrect;
  lines.erase(lines.begin() + 9);
  const std::string message = MessageOf(lines);
  const std::set<int> named = LinesIn(message);
  ASSERT_EQ(named, (std::set<int>{9, 10})) << message;
  EXPECT_NE(message.find("__syncthreads() in between"), std::string::npos) << message;
  lines.insert(lines.begin() + *named.begin(), "  __syncthreads();");
  EXPECT_EQ(Join(lines), Join(kCorrect));
}

// Where a size is wrong: the message has what was asked for, and the limit.
TEST_F(Messages, SayTheLimitOfAResource) {
  std::vector<std::string> lines = kCorrect;
  lines[5] = "  __shared__ float tile[16384];";
  const std::string message = MessageOf(lines);
  EXPECT_NE(message.find("reverse"), std::string::npos) << message;
  std::smatch sizes;
  ASSERT_TRUE(std::regex_search(message, sizes, std::regex(R"(0x([0-9a-f]+) bytes, 0x([0-9a-f]+) max)"))) << message;
  const long asked = std::stol(sizes[1], nullptr, 16), limit = std::stol(sizes[2], nullptr, 16);
  EXPECT_EQ(asked, 4 * 16384);
  EXPECT_EQ(limit, 49152);
  lines[5] = "  __shared__ float tile[" + std::to_string(64 * (16384 * limit / asked / 64) - 64) + "];";
  EXPECT_EQ(MessageOf(lines), "");
}

}  // namespace
}  // namespace warpwright
