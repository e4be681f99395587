#include "agents/repairer.h"

#include <gtest/gtest.h>

#include "agents/optimizer.h"

namespace warpwright {
namespace {

// Answers every rewrite with a text that names its parameters, and records them.
class RewritingEvaluator final : public core::Evaluator {
 public:
  Result<core::Inspection> Inspect(const core::SourceRef&) override { return core::Inspection{}; }
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest& request) override {
    asked.push_back(request.parameters);
    if (request.transform == core::kDeclaredText)
      return core::RewriteOutcome(core::Rewritten{request.source.text + "// and more", {}, {}});
    std::string text = "// " + request.transform;
    for (const auto& [name, value] : request.parameters) text += " " + name + "=" + value;
    if (lacks_value) return Fail(ErrorCode::kUsage, "block_size cannot be \"64\"");
    if (refuse) return core::RewriteOutcome(core::RewriteRefusal{"no loop here", 7});
    return core::RewriteOutcome(core::Rewritten{text, {"did it"}, {}});
  }
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest&) override {
    return Fail(ErrorCode::kUnsupported, "not in this test");
  }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest&) override {
    return Fail(ErrorCode::kUnsupported, "not in this test");
  }
  Result<core::TimeOutcome> Time(const core::TimeRequest&) override {
    return Fail(ErrorCode::kUnsupported, "not in this test");
  }
  std::vector<core::Parameters> asked;
  bool refuse = false, lacks_value = false;
};

struct StepRow {
  core::Parameters from;
  core::Diagnosis::Cause cause;
  std::optional<core::Parameters> to;
};
class Smaller_ : public ::testing::TestWithParam<StepRow> {};
TEST_P(Smaller_, TakesOneStepDown) { EXPECT_EQ(agents::Smaller(GetParam().from, GetParam().cause), GetParam().to); }
INSTANTIATE_TEST_SUITE_P(
    All, Smaller_,
    ::testing::Values(StepRow{{{"tile", "128x128x8"}},
                              core::Diagnosis::Cause::kResourceLimit,
                              core::Parameters{{"tile", "128x64x16"}}},
                      StepRow{{{"tile", "32x32x32"}}, core::Diagnosis::Cause::kResourceLimit, std::nullopt},
                      StepRow{{{"mode", "block"}, {"threads", "512"}},
                              core::Diagnosis::Cause::kResourceLimit,
                              core::Parameters{{"mode", "block"}, {"threads", "256"}}},
                      StepRow{{{"width", "4"}}, core::Diagnosis::Cause::kMisaligned, core::Parameters{{"width", "2"}}},
                      StepRow{{{"tile", "64x64x16"}}, core::Diagnosis::Cause::kMisaligned, std::nullopt},
                      StepRow{{}, core::Diagnosis::Cause::kResourceLimit, std::nullopt}));

class RepairerTest : public ::testing::Test {
 protected:
  Result<agents::Repair> Repair_(core::Diagnosis::Cause cause, const std::string& quote,
                                 core::Parameters parameters = {}) {
    failed.parameters = std::move(parameters);
    return agents::RepairCandidate({"/root", "a.cu", ""}, "f", base, failed, plan, {cause, quote, "because", "fix", 1},
                                   evaluator);
  }
  RewritingEvaluator evaluator;
  core::Candidate base = agents::MakeCandidate("base", {}, "original", {}, "");
  core::Candidate failed =
      agents::MakeCandidate("#include <a.h>\n#include \"b.h\"\nint x = INFINITY;\n", base, "tile_matmul", {}, "tiled");
  core::Plan plan{"tile_matmul", "tile_matmul", "k", {}, "", "", {}, {}, 0};
};

TEST_F(RepairerTest, LetsTheWorkerDeclareWhatIsMissing) {
  const auto repair =
      Repair_(core::Diagnosis::Cause::kMissingHelper, "a.cu(3): error: identifier \"INFINITY\" is undefined");
  ASSERT_TRUE(repair);
  const auto& candidate = std::get<core::Candidate>(*repair);
  EXPECT_EQ(candidate.text, failed.text + "// and more");
  ASSERT_EQ(evaluator.asked.size(), 1u);
  EXPECT_TRUE(evaluator.asked[0].at("declaration").starts_with("#ifndef INFINITY\n"));
  EXPECT_EQ(candidate.parent, base.hash);
}

TEST_F(RepairerTest, AsksTheTransformationForLess) {
  const auto repair = Repair_(core::Diagnosis::Cause::kResourceLimit, "too much", {{"tile", "64x64x16"}});
  ASSERT_TRUE(repair);
  EXPECT_EQ(std::get<core::Candidate>(*repair).text, "// tile_matmul tile=64x64x8");
  EXPECT_EQ(evaluator.asked, (std::vector<core::Parameters>{{{"tile", "64x64x8"}}}));
}

TEST_F(RepairerTest, AbandonsWithAReason) {
  EXPECT_EQ(
      std::get<agents::Abandon>(*Repair_(core::Diagnosis::Cause::kResourceLimit, "x", {{"tile", "32x32x32"}})).reason,
      "the smallest parameters fail too");
  EXPECT_NE(
      std::get<agents::Abandon>(*Repair_(core::Diagnosis::Cause::kMissingHelper, "identifier \"foo\" is undefined"))
          .reason.find("'foo'"),
      std::string::npos);
  EXPECT_NE(
      std::get<agents::Abandon>(*Repair_(core::Diagnosis::Cause::kWrongResult, "x")).reason.find("no built-in repair"),
      std::string::npos);
  evaluator.refuse = true;
  EXPECT_EQ(
      std::get<agents::Abandon>(*Repair_(core::Diagnosis::Cause::kResourceLimit, "x", {{"tile", "64x64x16"}})).reason,
      "no loop here");
  evaluator.lacks_value = true;
  EXPECT_EQ(
      std::get<agents::Abandon>(*Repair_(core::Diagnosis::Cause::kResourceLimit, "x", {{"block_size", "128"}})).reason,
      "block_size cannot be \"64\"");
}

TEST(Optimizer, RepeatedTextsAreRefusals) {
  RewritingEvaluator evaluator;
  const core::Candidate base = agents::MakeCandidate("// t a=1", {}, "original", {}, "");
  core::Plan plan;
  plan.transform = "t";
  plan.variants = {{{"a", "1"}}, {{"a", "2"}}, {{"a", "2"}}};
  const auto attempts = agents::Optimize({"/root", "a.cu", ""}, "f", base, plan, evaluator);
  ASSERT_TRUE(attempts);
  ASSERT_EQ(attempts->size(), 3u);
  EXPECT_EQ(std::get<core::RewriteRefusal>((*attempts)[0].outcome).reason, "changes nothing");
  EXPECT_EQ(std::get<core::Candidate>((*attempts)[1].outcome).summary, "did it");
  EXPECT_TRUE(std::holds_alternative<core::RewriteRefusal>((*attempts)[2].outcome));
}

}  // namespace
}  // namespace warpwright
