// What prompts say of what an entry computes, where only its launches are known.
#include "agents/formula_text.h"

#include "tests/support/golden.h"
#include "tests/unit/agents/model_kit.h"

namespace warpwright {
namespace {

core::SegmentForm Segment(uint64_t number, core::Computation computation, int line) {
  for (core::Stage& stage : computation.stages) stage.line = line;
  return {number, std::move(computation)};
}

std::string Text(ModelKit& kit) {
  const auto text = agents::FormulaText(kit.At());
  EXPECT_TRUE(text) << text.error().message;
  return text ? *text : std::string();
}

TEST(FormulaText, SegmentsStandForAnEntryWithoutAFormula) {
  ModelKit kit;
  kit.segments = [] { return std::vector{Segment(0, testing::Softmax(), 3), Segment(2, testing::LayerNorm(), 0)}; };
  ExpectGolden("prompts/formula-of-segments.txt", Text(kit));
  kit.AskAll();
  for (const llm::Question& question : kit.model->asked)
    EXPECT_NE(llm::RenderPrompt(question).find("Launching statement 3:"), std::string::npos) << Name(question.role);
  kit.worker.notes.push_back("header rows.h");
  EXPECT_NE(Text(kit).find("Launching statement 1:"), std::string::npos) << "a line does not say of which file it is";
  kit.segments = [] { return std::vector<core::SegmentForm>(); };
  EXPECT_EQ(Text(kit), "What it computes could not be written as a formula: read the code.\n");
}

TEST(FormulaText, SegmentsAreAskedForOnlyWithoutAFormula) {
  ModelKit kit;
  bool asked = false;
  const auto segments = [&]() -> Result<std::vector<core::SegmentForm>> {
    asked = true;
    return Fail(ErrorCode::kWorkerDied, "no worker");
  };
  agents::Situation at = kit.At();
  at.segments = segments;
  ASSERT_TRUE(agents::FormulaText(at));
  EXPECT_FALSE(asked);
  at.form = nullptr;
  EXPECT_FALSE(agents::FormulaText(at)) << "that they could not be found out is no formula";
}

TEST(FormulaText, ALongChainHasALimit) {
  ModelKit kit;
  kit.segments = [] {
    std::vector<core::SegmentForm> chain;
    for (uint64_t i = 0; i < 40; ++i) chain.push_back(Segment(i, testing::Attention(), 3));
    return chain;
  };
  const std::string text = Text(kit);
  EXPECT_LT(text.size(), 8'000u);
  EXPECT_NE(text.find("Others are left out.\n"), std::string::npos);
}

}  // namespace
}  // namespace warpwright
