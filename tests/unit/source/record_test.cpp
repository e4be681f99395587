// Every file of cases/ is sliced, recorded and compiled; its own comments say what must come out.
#include "source/record.h"

#include <gtest/gtest.h>

#include <algorithm>

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

INSTANTIATE_TEST_SUITE_P(Files, RecordCase, testing::ValuesIn(CaseFiles()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace warpwright
