#include "agents/data_block.h"

#include <gtest/gtest.h>

#include "agents/briefing.h"
#include "base/lines.h"

namespace warpwright {
namespace {

TEST(DataBlock, NumbersLinesAndLeavesOutEmptyOnes) {
  EXPECT_EQ(agents::NumberedLines("a\n\n\tb  \n\n\n\nc"), "   1| a\n   2|\n   3|     b\n   ...\n   7| c\n");
  EXPECT_EQ(agents::NumberedLines(""), "");
}

TEST(DataBlock, HidesNothing) {
  EXPECT_EQ(agents::NumberedLines("a\xE2\x80\xAE"
                                  "b\x1b[31m\rc\n"),
            "   1| a\xEF\xBF\xBD"
            "b [31m c\n");
  EXPECT_EQ(agents::Quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c d\"");
}

TEST(DataBlock, ALongTextKeepsItsEnds) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string barred = agents::BarredLines(text, 200);
  EXPECT_TRUE(barred.starts_with("| line 0\n| line 1\n")) << barred;
  EXPECT_NE(barred.find("lines are left out)"), std::string::npos);
  EXPECT_TRUE(barred.ends_with("| line 998\n| line 999\n")) << barred;
  EXPECT_LT(barred.size(), 300u);
  EXPECT_EQ(agents::BarredLines("a\nb", 200), "| a\n| b\n");
}

// Plans have paragraphs: whoever carries one out needs all of it.
TEST(DataBlock, ALongLineGoesOnInTheNextOne) {
  std::string words;
  for (int i = 0; i < 120; ++i) words += (i > 0 ? " word" : "word") + std::to_string(i);
  const std::string barred = agents::BarredLines(words + "\n" + std::string(450, 'x'), 12'000);
  std::string joined;
  for (const std::string_view line : base::LinesOf(barred)) {
    ASSERT_TRUE(line.starts_with("| "));
    EXPECT_LE(line.size(), 202u);
    joined += (joined.empty() || line.starts_with("| x") ? "" : " ") + std::string(line.substr(2));
  }
  EXPECT_EQ(joined, words + std::string(450, 'x'));
}

// A schedule is carried out without a model; a worked example goes to the first card that has one.
TEST(MethodCards, ThoseOfSchedulesComeLast) {
  skills::MethodCard schedule, plain, worked, also;
  schedule.id = "schedule_tiles";
  schedule.transform = "schedule_tiles";
  schedule.example = "// of the schedule\n";
  plain.id = "plain";
  plain.sketch = "// sketched\n";
  worked.id = "worked";
  worked.sketch = "// less\n";
  worked.example = "// whole\n";
  also.id = "also";
  also.sketch = "// in short\n";
  also.example = "// too long\n";
  skills::MatchResult match;
  for (const skills::MethodCard* card : {&schedule, &plain, &worked, &also})
    match.methods.push_back({.card = card, .reasons = {}, .unknown = {}});
  const std::string text = agents::MethodCards(match, 3, 1);
  const size_t first = text.find("### plain"), second = text.find("### worked"), third = text.find("### also");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
  EXPECT_EQ(text.find("schedule_tiles"), std::string::npos) << "three cards are asked for";
  EXPECT_NE(text.find("// whole"), std::string::npos);
  EXPECT_NE(text.find("// in short"), std::string::npos);
  EXPECT_NE(agents::MethodCards(match, 4).find("### schedule_tiles"), std::string::npos);
}

// What compilers are told is part of what the code means.
TEST(Contract, SaysHowTheFileIsCompiledWhereThatIsUnusual) {
  core::KernelSpec spec;
  spec.entry = "run";
  spec.file = "a.cu";
  EXPECT_EQ(agents::ContractFacts(spec, true).find("compiled with"), std::string::npos);
  spec.build.define = {{"TILE", "32"}};
  EXPECT_NE(agents::ContractFacts(spec, true).find("It is compiled with \"-DTILE=32 -std=c++17\".\n"),
            std::string::npos);
}

// An instruction that the project's own build knows is not said to be unknown.
TEST(Contract, TheChipsInstructionsAreThoseOfTheBuild) {
  core::Chip chip;
  chip.arch = "sm_90";
  core::BuildOptions build;
  for (const bool modelled : {true, false}) {
    EXPECT_NE(agents::ChipFacts(chip, {}, modelled).find("compiled for sm_90; wgmma and setmaxnreg"),
              std::string::npos);
    build.flags = {core::BuildFlag::kHopperAlone};
    const std::string facts = agents::ChipFacts(chip, build, modelled);
    EXPECT_NE(facts.find("compiled for sm_90a, so that wgmma compiles"), std::string::npos) << facts;
    EXPECT_EQ(facts.find("do not compile"), std::string::npos) << facts;
  }
}

}  // namespace
}  // namespace warpwright
