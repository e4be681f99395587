#include "agents/data_block.h"

#include <gtest/gtest.h>

#include "agents/briefing.h"

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

}  // namespace
}  // namespace warpwright
