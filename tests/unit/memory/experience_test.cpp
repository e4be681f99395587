#include "memory/experience.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "base/file.h"
#include "tests/unit/memory/samples.h"

namespace warpwright {
namespace {

class ExperienceFile : public testing::Test {
 protected:
  void SetUp() override { path_ = folder_.path() / "store" / "experience.jsonl"; }
  base::TemporaryDirectory folder_ = *base::TemporaryDirectory::Create("experience");
  std::filesystem::path path_;
};

memory::Experience With(const std::string& method, double log_gain, const std::string& time = "2026-11-21T03:00:00Z") {
  memory::Experience e = SampleExperience();
  e.method = method;
  e.log_gain = log_gain;
  e.time = time;
  return e;
}

TEST(Experience, RoundTripIsExact) {
  const memory::Experience e = SampleExperience();
  const auto line = memory::FormatExperience(e);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->find('\n'), std::string::npos);
  const auto back = memory::ParseExperience(*line);
  ASSERT_TRUE(back) << back.error().Format();
  EXPECT_EQ(*back, e);
  EXPECT_EQ(memory::ExperienceId(*back), memory::ExperienceId(e));
}

TEST(Experience, ReadmeExampleIsReadable) {
  const auto readme = base::ReadFile(std::string(WW_SOURCE_DIR) + "/memory/README.md");
  ASSERT_TRUE(readme);
  const size_t begin = readme->find("{\"chip\"");
  ASSERT_NE(begin, std::string::npos);
  const auto e = memory::ParseExperience(std::string_view(*readme).substr(begin, readme->find('\n', begin) - begin));
  ASSERT_TRUE(e) << e.error().Format();
  EXPECT_EQ(e->method, "row_parallel");
}

TEST(Experience, BadLinesSayWhatIsWrong) {
  const std::string good = *memory::FormatExperience(SampleExperience());
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::pair<std::string, const char*> rows[] = {
      {"", "not JSON at byte 1"},
      {"[]", "not an object"},
      {"nonsense", "not JSON at byte 2"},
      {good.substr(0, good.size() / 2), "not JSON at byte"},
      {replaced("\"v\":1", "\"v\":2"), "format 2 is not known"},
      {replaced("\"v\":1", "\"w\":1"), "'v'"},
      {replaced("\"chip\":\"h200\"", "\"chip\":7"), "chip: not text"},
      {replaced("\"method\":\"row_parallel\"", "\"method\":\"\""), "'method' is empty"},
      {replaced("\"modelled\":true", "\"modelled\":1"), "modelled: neither true nor false"},
      {replaced("1.8325814637483102", "\"x\""), "log_gain: not a number"},
      {replaced("1.8325814637483102", "1e300"), "'log_gain' must lie"},
      {replaced("\"spread\":0.01", "\"spread\":-1"), "'spread'"},
      {replaced("\"outcome\":\"measured\"", "\"outcome\":\"faulted\""), "outcome 'faulted' cannot have a gain"},
      {replaced("\"mode\":\"warp\"", "\"mode\":5"), "parameters.mode: not text"},
      {replaced("\"kernel\":\"softmax\"", "\"kernel\":\"" + std::string(600, 'x') + "\""), "'kernel' has more than"},
      {std::string(20'000, ' ') + good, "the line has more than"},
  };
  for (const auto& [text, message] : rows) {
    const auto parsed = memory::ParseExperience(text);
    ASSERT_FALSE(parsed) << text.substr(0, 200);
    EXPECT_EQ(parsed.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(parsed.error().message.find(message), std::string::npos) << parsed.error().message << " / " << message;
  }
  EXPECT_TRUE(memory::ParseExperience(replaced("{", "{\"later\":[1,2],")))
      << "unknown keys of the same format are ignored";
}

TEST(Experience, UnwritableValuesAreRefused) {
  memory::Experience e = SampleExperience();
  e.log_gain = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(memory::FormatExperience(e));
  e = SampleExperience();
  e.key.operation.clear();
  EXPECT_FALSE(memory::FormatExperience(e));
  e = SampleExperience();
  e.outcome = core::VerdictKind::kFaulted;
  EXPECT_FALSE(memory::FormatExperience(e)) << "a failure has no gain";
}

TEST(Experience, GradesOfNearness) {
  const memory::ExperienceKey key = SampleExperience().key;
  memory::Experience e = SampleExperience();
  EXPECT_EQ(memory::GradeOf(e, key), memory::MatchGrade::kExact);
  e.key.chip = "a100";
  EXPECT_EQ(memory::GradeOf(e, key), memory::MatchGrade::kSimilar);
  e.key.state = "other";
  EXPECT_EQ(memory::GradeOf(e, key), memory::MatchGrade::kOperation);
  e.key.operation = "matmul";
  EXPECT_EQ(memory::GradeOf(e, key), memory::MatchGrade::kNone);
}

TEST(Experience, TheFormulaMakesNearer) {
  using memory::MatchGrade;
  memory::Experience e = SampleExperience();
  e.key.form = std::string(64, 'a');
  e.key.shape = "row_normalization results4^5 terms4^6 f32>f32";
  const memory::ExperienceKey key = e.key;
  struct Row {
    const char *form, *shape, *chip, *state, *operation;
    MatchGrade grade;
  };
  const char *form = key.form.c_str(), *shape = key.shape.c_str(), *state = key.state.c_str();
  for (const Row& row : {Row{form, shape, "h200", state, "row_normalization", MatchGrade::kFormAndShape},
                         Row{form, "", "h200", state, "row_normalization", MatchGrade::kFormExact},
                         Row{"", shape, "h200", state, "row_normalization", MatchGrade::kShape},
                         Row{"", "", "h200", state, "row_normalization", MatchGrade::kExact},
                         Row{form, shape, "a100", state, "row_normalization", MatchGrade::kForm},
                         Row{form, shape, "h200", "another", "row_normalization", MatchGrade::kForm},
                         Row{form, shape, "h200", "another", "unknown", MatchGrade::kForm},
                         Row{"", shape, "a100", state, "row_normalization", MatchGrade::kSimilar},
                         Row{"", shape, "h200", "another", "row_normalization", MatchGrade::kOperation},
                         Row{"", shape, "h200", state, "matmul", MatchGrade::kNone}}) {
    e.key.form = row.form;
    e.key.shape = row.shape;
    e.key.chip = row.chip;
    e.key.state = row.state;
    e.key.operation = row.operation;
    EXPECT_EQ(memory::GradeOf(e, key), row.grade)
        << row.form << " " << row.shape << " " << row.chip << " " << row.state;
  }
  memory::ExperienceKey unknown = key;
  unknown.form.clear();
  unknown.shape.clear();
  EXPECT_EQ(memory::GradeOf(SampleExperience(), unknown), MatchGrade::kExact) << "not known is no formula in common";
}

TEST(Experience, LinesFromBeforeFormulasAreRead) {
  std::string line = *memory::FormatExperience(SampleExperience());
  for (const std::string key : {"\"form\":\"\",", "\"shape\":\"\","}) {
    ASSERT_NE(line.find(key), std::string::npos) << line;
    line.erase(line.find(key), key.size());
  }
  ASSERT_TRUE(memory::ParseExperience(line));
  EXPECT_EQ(*memory::ParseExperience(line), SampleExperience());
  memory::Experience e = SampleExperience();
  e.key.form = std::string(64, 'b');
  e.key.shape = "matmul b4^0 m4^3 n4^2 k4^3 f32>f32";
  EXPECT_EQ(*memory::ParseExperience(*memory::FormatExperience(e)), e);
  for (const std::string& form : {std::string("softmax"), std::string(63, 'b'), std::string(64, 'B')}) {
    e.key.form = form;
    EXPECT_FALSE(memory::FormatExperience(e)) << form;
  }
}

TEST_F(ExperienceFile, AppendThenQuery) {
  memory::JsonLinesStore store(path_);
  EXPECT_EQ(store.Query(SampleExperience().key)->best, memory::MatchGrade::kNone) << "a missing file is an empty store";
  ASSERT_TRUE(store.Append(With("a", 0.5)));
  memory::Experience other = With("b", 0.1);
  other.key.chip = "a100";
  ASSERT_TRUE(store.Append(other));
  memory::Experience foreign = With("c", 0.1);
  foreign.key.operation = "matmul";
  ASSERT_TRUE(store.Append(foreign));
  const auto answer = store.Query(SampleExperience().key);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->best, memory::MatchGrade::kExact);
  ASSERT_EQ(answer->samples.size(), 2u);
  EXPECT_EQ(answer->samples[1].grade, memory::MatchGrade::kSimilar);
  EXPECT_TRUE(answer->warnings.empty());
}

TEST_F(ExperienceFile, BadLinesBecomeWarningsWithTheirPlace) {
  const std::string good = *memory::FormatExperience(With("a", 0.5));
  ASSERT_TRUE(base::WriteFileAtomically(
      path_, good + "\nbroken\n\n" + *memory::FormatExperience(With("b", 0.5)) + "\n" + good + "\n"));
  const auto content = memory::ReadStore(path_);
  ASSERT_TRUE(content);
  EXPECT_EQ(content->experiences.size(), 2u);
  EXPECT_EQ(content->bad, 1u);
  EXPECT_EQ(content->duplicates, 1u);
  ASSERT_EQ(content->warnings.size(), 1u);
  EXPECT_EQ(content->warnings[0], path_.string() + ":2: not JSON at byte 1");
}

TEST_F(ExperienceFile, CatMergesAndEqualEntriesCountOnce) {
  const std::string a = *memory::FormatExperience(With("a", 0.5)) + "\n",
                    b = *memory::FormatExperience(With("b", 0.25)) + "\n";
  ASSERT_TRUE(base::WriteFileAtomically(path_, a + b + a));  // like `cat first second > both`
  memory::JsonLinesStore store(path_);
  EXPECT_EQ(store.Query(SampleExperience().key)->samples.size(), 2u);
}

TEST_F(ExperienceFile, GrowthByOthersIsSeenAndAHalfLineDoesNotSwallowTheNext) {
  memory::JsonLinesStore store(path_), other(path_);
  ASSERT_TRUE(store.Append(With("a", 0.5)));
  EXPECT_EQ(store.Query(SampleExperience().key)->samples.size(), 1u);
  ASSERT_TRUE(other.Append(With("b", 0.5)));
  EXPECT_EQ(store.Query(SampleExperience().key)->samples.size(), 2u);
  const std::string line = *memory::FormatExperience(With("c", 0.5));
  {
    std::ofstream half(path_, std::ios::app);
    half << line.substr(0, 40);  // here the writer was killed
  }
  EXPECT_EQ(store.Query(SampleExperience().key)->samples.size(), 2u) << "an unfinished line waits";
  ASSERT_TRUE(other.Append(With("d", 0.5)));
  const auto answer = store.Query(SampleExperience().key);
  EXPECT_EQ(answer->samples.size(), 3u);
  EXPECT_EQ(answer->warnings.size(), 1u);
}

TEST_F(ExperienceFile, AReplacedFileIsReadAgain) {
  memory::JsonLinesStore store(path_);
  ASSERT_TRUE(store.Append(With("a", 0.5)));
  ASSERT_TRUE(store.Append(With("b", 0.5)));
  EXPECT_EQ(store.Query(SampleExperience().key)->samples.size(), 2u);
  ASSERT_TRUE(base::WriteFileAtomically(path_, *memory::FormatExperience(With("c", 0.5)) + "\n"));
  const auto answer = store.Query(SampleExperience().key);
  ASSERT_EQ(answer->samples.size(), 1u);
  EXPECT_EQ(answer->samples[0].experience.method, "c");
}

TEST_F(ExperienceFile, ReadOnlyStoresAreReadToo) {
  const auto seed = folder_.path() / "seed.jsonl";
  ASSERT_TRUE(base::WriteFileAtomically(seed, *memory::FormatExperience(With("seed", 0.5)) + "\n"));
  memory::JsonLinesStore store(path_, {seed});
  ASSERT_TRUE(store.Append(With("a", 0.5)));
  EXPECT_EQ(store.Query(SampleExperience().key)->samples.size(), 2u);
  EXPECT_EQ(memory::ReadStore(seed)->lines, 1u) << "nothing is written to it";
}

TEST_F(ExperienceFile, MergeSortsDropsDuplicatesAndNamesBadLines) {
  const auto one = folder_.path() / "1.jsonl", two = folder_.path() / "2.jsonl", out = folder_.path() / "out.jsonl";
  const memory::Experience early = With("early", 0.1, "2026-01-01T00:00:00Z"),
                           late = With("late", 0.2, "2026-02-01T00:00:00Z");
  ASSERT_TRUE(base::WriteFileAtomically(one, *memory::FormatExperience(late) + "\n"));
  ASSERT_TRUE(base::WriteFileAtomically(
      two, *memory::FormatExperience(early) + "\nbad\n" + *memory::FormatExperience(late) + "\n"));
  const auto merged = memory::MergeStores({one, two}, out);
  ASSERT_TRUE(merged) << merged.error().Format();
  EXPECT_EQ(merged->duplicates, 1u);
  EXPECT_EQ(merged->bad, 1u);
  const auto content = memory::ReadStore(out);
  ASSERT_EQ(content->experiences.size(), 2u);
  EXPECT_EQ(content->experiences[0], early);
  EXPECT_EQ(content->experiences[1], late);
  EXPECT_FALSE(memory::MergeStores({folder_.path() / "absent"}, out));
  const std::string before = *base::ReadFile(out);
  ASSERT_TRUE(memory::MergeStores({out, one, two}, out)) << "into one of the inputs";
  EXPECT_EQ(*base::ReadFile(out), before);
}

TEST(Experience, SeedStoreIsReadable) {
  const auto content = memory::ReadStore(std::string(WW_SOURCE_DIR) + "/memory/experience.jsonl");
  ASSERT_TRUE(content) << content.error().Format();
  EXPECT_EQ(content->bad, 0u);
  EXPECT_EQ(content->duplicates, 0u);
  EXPECT_GE(content->experiences.size(), 20u);
}

}  // namespace
}  // namespace warpwright
