// Every file of cases/ is sliced, recorded and compiled; its own comments say what must come out.
#include "source/record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "source/splice.h"
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

Result<RecordOutcome> Record(const SourceCase& c, const Slices& slices) {
  RecordRequest request;
  request.spec = &c.spec;
  request.scalars = c.scalars;
  request.buffers = c.buffers;
  request.chip = TestChip();
  request.cache = RecorderCache();
  request.run_deadline = std::chrono::seconds(10);
  return RecordPlan(slices, request);
}

void ExpectRefusal(const SourceCase& c, const Refused& refused) {
  ASSERT_FALSE(c.refusal.empty()) << "refused: " << refused.reason << " @ " << refused.file << ":" << refused.line;
  EXPECT_NE(refused.reason.find(c.refusal), std::string::npos) << refused.reason;
  EXPECT_EQ(refused.line, c.refusal_line) << refused.reason;
  EXPECT_FALSE(refused.file.empty());
}

class RecordCase : public testing::TestWithParam<fs::path> {};

TEST_P(RecordCase, SlicesRecordsAndCompiles) {
  const SourceCase c = ReadCase(GetParam());
  const SourceRef source{GetParam().parent_path().string(), GetParam().filename().string(), c.text};
  const auto sliced = Slice(source, c.spec.entry);
  ASSERT_TRUE(sliced) << sliced.error().Format();
  if (const auto* refused = std::get_if<Refused>(&*sliced)) return ExpectRefusal(c, *refused);
  const Slices& slices = std::get<Slices>(*sliced);
  // Lines stay where they are.
  EXPECT_EQ(std::count(slices.device.begin(), slices.device.end(), '\n'),
            std::count(c.text.begin(), c.text.end(), '\n'));
  const auto recorded = Record(c, slices);
  ASSERT_TRUE(recorded) << recorded.error().Format();
  if (const auto* refused = std::get_if<Refused>(&*recorded)) return ExpectRefusal(c, *refused);
  const LaunchPlan& plan = std::get<LaunchPlan>(*recorded);
  ASSERT_TRUE(c.refusal.empty()) << "it was recorded, and should be refused: " << c.refusal;
  std::string expected, actual;
  for (const std::string& line : c.expected) expected += "// expect: " + line + "\n";
  for (const std::string& line : Describe(plan)) actual += "// expect: " + line + "\n";
  EXPECT_EQ(actual, expected);
  ExpectCompiles(slices, plan);
}

// What the splicer promises: the spliced file launches the same kernels in the same way, with the same machine code.
TEST(RecordSpliced, PlanAndCodeAreThoseOfTheEditedFile) {
  SourceCase c = ReadCase(fs::path(WW_SOURCE_DIR) / "tests/unit/source/cases/two_kernels_workspace.cu");
  SourceRef source{c.path.parent_path().string(), c.path.filename().string(), c.text};
  std::string edited = "// Written by another hand.\n\n\n" + c.text;
  const auto replace = [&](const std::string& from, const std::string& to) {
    const size_t at = edited.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    edited.replace(at, from.size(), to);
  };
  replace("__global__ void partial(",
          "#define STEP 2\n__device__ float scaled(float x) { return x * STEP; }\n__global__ void partial(");
  replace("s += in[i];", "s += scaled(in[i]);");
  replace("const int blocks = 32;", "const int blocks = 16;");
  const auto spliced = Splice({source, edited, c.spec.entry});
  ASSERT_TRUE(spliced) << spliced.error().Format();
  ASSERT_TRUE(std::holds_alternative<Rewritten>(*spliced)) << std::get<Refused>(*spliced).reason;
  std::vector<std::string> digests, code;
  for (const std::string& text : {std::get<Rewritten>(*spliced).text, edited}) {
    source.text = text;
    const auto sliced = Slice(source, c.spec.entry);
    ASSERT_TRUE(sliced);
    const Slices& slices = std::get<Slices>(*sliced);
    const auto recorded = Record(c, slices);
    ASSERT_TRUE(recorded);
    ASSERT_TRUE(std::holds_alternative<LaunchPlan>(*recorded)) << std::get<Refused>(*recorded).reason;
    digests.push_back(PlanDigest(std::get<LaunchPlan>(*recorded)));
    const auto compiled =
        TheCompiler().Compile({slices.file, slices.device, slices.device_headers, {"partial", "finish"}, "sm_90"});
    ASSERT_TRUE(compiled && std::holds_alternative<CompiledModule>(*compiled));
    std::string ptx;  // without the line directives
    std::istringstream lines(std::get<CompiledModule>(*compiled).ptx);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(".loc") == std::string::npos && line.find(".file") == std::string::npos) ptx += line + "\n";
    }
    code.push_back(ptx.substr(0, ptx.find(".section")));
  }
  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_NE(code[0].find(".entry"), std::string::npos);
  EXPECT_EQ(code[0], code[1]);
  EXPECT_NE(std::get<Rewritten>(*spliced).text, edited);
}

INSTANTIATE_TEST_SUITE_P(Files, RecordCase, testing::ValuesIn(CaseFiles()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace warpwright
