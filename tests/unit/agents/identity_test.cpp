// What was learned from one implementation of a formula serves another's.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "agents/planner.h"
#include "base/file.h"
#include "base/json.h"
#include "core/computation_json.h"
#include "memory/statistics.h"

namespace warpwright {
namespace {

// As bench_lift --forms found it.
core::Computation Stranger(const std::string& entry) {
  const auto forms = base::ReadFile(std::string(WW_SOURCE_DIR) + "/tests/golden/stranger-forms.jsonl");
  EXPECT_TRUE(forms);
  std::istringstream lines(forms.value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"" + entry + "\"") == std::string::npos) continue;
    const auto computation = core::DecodeComputation(base::DumpJson(base::ParseJson(line)->at("computation")));
    EXPECT_TRUE(computation);
    if (computation) return *computation;
  }
  ADD_FAILURE() << entry << " is not among the forms";
  return {};
}

core::Evidence EvidenceOf(const core::Computation& computation, const core::SizeValues& sizes) {
  core::Evidence evidence;
  evidence.chip = "h200";
  const auto facts = core::FactsAt(computation, sizes);
  EXPECT_TRUE(facts) << facts.error().message;
  if (facts) core::AddFormula(*facts, facts->operation, evidence);
  evidence.form = agents::FormOf(computation, {}).digest;
  return evidence;
}

class IdentityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Forget();
    first_.id = "first", second_.id = "second";
    first_.intent = second_.intent = "do it";
  }
  void Forget() {
    std::filesystem::remove(path_);
    store_ = std::make_unique<memory::JsonLinesStore>(path_);
  }
  // `second` is what the policy would try last.
  skills::MatchResult MatchIn(const std::string& state) const {
    skills::MatchResult match;
    match.state = state;
    match.methods = {{&first_, 0.8, 0.5, {}, {}}, {&second_, 0.5, 0.4, {}, {}}};
    return match;
  }
  void Learn(const core::Evidence& evidence, const std::string& state, int times = 2) {
    for (int i = 0; i < times; ++i) {
      memory::Experience experience;
      experience.key = agents::KeyOf(evidence, MatchIn(state));
      experience.method = "second";
      experience.log_gain = 1.2;
      experience.time = "2026-11-2" + std::to_string(i) + "T03:00:00Z";
      EXPECT_TRUE(store_->Append(experience));
    }
  }
  std::string FirstMethod(const core::Evidence& evidence, const std::string& state) {
    const skills::MatchResult match = MatchIn(state);
    const auto experience = store_->Query(agents::KeyOf(evidence, match));
    EXPECT_TRUE(experience);
    const auto planned = agents::MakePlan({}, match, *experience, true);
    return std::get<core::Plan>(planned).method;
  }
  skills::MethodCard first_, second_;
  const std::string path_ = ::testing::TempDir() + "/identity_experience.jsonl";
  std::unique_ptr<memory::JsonLinesStore> store_;
};

TEST_F(IdentityTest, ANaiveSoftmaxTeachesATiledOne) {
  const core::Evidence naive = EvidenceOf(Stranger("04-extension/softmax_naive"), {{"outer", 512}, {"dim", 1000}}),
                       tiled = EvidenceOf(Stranger("04-extension/softmax_tiled"), {{"outer", 64}, {"dim", 3000}});
  ASSERT_EQ(naive.form.size(), 64u);
  EXPECT_EQ(naive.form, tiled.form);
  EXPECT_NE(naive.shape, tiled.shape);
  EXPECT_EQ(FirstMethod(tiled, "barriers"), "first") << "the policy's order";
  Learn(naive, "serial_rows");
  EXPECT_EQ(FirstMethod(tiled, "barriers"), "second") << "another state, other sizes: the same formula";
  EXPECT_EQ(store_->Query(agents::KeyOf(tiled, MatchIn("barriers")))->best, memory::MatchGrade::kForm);
}

TEST_F(IdentityTest, AnotherRowProgramDoesNotTeachAsMuch) {
  const core::Evidence softmax = EvidenceOf(Stranger("04-extension/softmax_naive"), {{"outer", 512}, {"dim", 1000}}),
                       norm = EvidenceOf(Stranger("03-tinyggml/rmsnorm_naive"), {{"nrows", 512}, {"ncols", 1000}});
  EXPECT_EQ(norm.operation, softmax.operation);
  EXPECT_NE(norm.form, softmax.form);
  Learn(norm, "serial_rows");
  EXPECT_EQ(FirstMethod(softmax, "barriers"), "first") << "the same class alone: " << norm.shape;
}

TEST_F(IdentityTest, TheFormulaCountsMostThenTheShapesThenTheChip) {
  core::Evidence evidence;
  evidence.chip = "h200";
  evidence.operation = core::OperationClass::kRowNormalization;
  evidence.form = std::string(64, 'a');
  evidence.shape = "row_normalization results4^5 terms4^6 f32>f32";
  std::vector<core::Evidence> learned(5, evidence);
  learned[1].shape = "row_normalization results4^1 terms4^9 f32>f32";
  learned[2].form = std::string(64, 'b');
  learned[3].form = std::string(64, 'b'), learned[3].shape = learned[1].shape;
  learned[4] = learned[3], learned[4].chip = "a100";
  double last = 100;
  for (const core::Evidence& from : learned) {
    Forget();
    Learn(from, "serial_rows", 1);
    const auto experience = store_->Query(agents::KeyOf(evidence, MatchIn("serial_rows")));
    ASSERT_TRUE(experience);
    const double posterior = memory::Statistics("second", 0, experience->samples, {}).posterior;
    EXPECT_LT(posterior, last) << from.form << from.shape << from.chip;
    last = posterior;
  }
  EXPECT_GT(last, 0);
}

}  // namespace
}  // namespace warpwright
