#include "schedule/contraction.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "core/computation_inline.h"
#include "core/computation_json.h"
#include "core/computation_walk.h"
#include "tests/support/contraction_samples.h"

namespace warpwright::schedule {
namespace {

using core::Stage;

// Variables as a stage's formula has them: i0, i1, ... and r0, r1, ...
std::string Described(const Stage& stage, const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis& axis : axes) {
    const bool index = axis.variable < stage.extents.size();
    const size_t number = index ? axis.variable : axis.variable - stage.extents.size();
    text += (text.empty() ? "" : ",") + std::string(index ? "i" : "r") + std::to_string(number);
  }
  return text.empty() ? "-" : text;
}
// The names of what a node reads, in its order.
void AddReads(const Stage& stage, core::NodeId id, std::string& text) {
  if (const auto* read = std::get_if<core::TensorRead>(&stage.nodes[id]))
    text += (text.empty() ? "" : "*") + read->tensor;
  core::ForEachArgument(stage.nodes[id], [&](core::NodeId arg) { AddReads(stage, arg, text); });
}
std::string Described(const Stage& stage, const Factor& factor) {
  std::string text;
  for (const core::NodeId root : factor.nodes) AddReads(stage, root, text);
  const size_t conditions = factor.guards.size() + factor.conditions.size();
  return conditions == 0 ? text : text + "?" + std::to_string(conditions);
}

// "batch m n k: left right", or why not; of the stage that stands last.
std::string DescribedContraction(const core::Computation& form) {
  const core::Computation inlined = core::Inlined(form);
  const Stage& stage = inlined.stages.back();
  const auto last = static_cast<core::VariableId>(stage.extents.size() - 1);
  const auto found = ContractionOf(inlined, stage, std::array{last});
  if (!found) return found.error().message;
  std::string text = Described(stage, found->batch) + " " + Described(stage, found->m) + " " +
                     Described(stage, found->n) + " " + Described(stage, found->k) + ": " +
                     Described(stage, found->left) + " " + Described(stage, found->right);
  if (!found->scale.empty()) text += ", scaled";
  return text;
}

TEST(Contraction, SplitsVariablesByTheFactorsThatHaveThem) {
  const std::map<std::string, std::string> expected = {
      {"product", "- i0 i1 r0: A B"},
      {"product of aligned rows", "- i0 i1 r0: A B"},
      {"product, left transposed", "- i0 i1 r0: A B"},
      {"product, right transposed", "- i0 i1 r0: A B"},
      {"product, both transposed", "- i0 i1 r0: A B"},
      {"product in f16", "- i0 i1 r0: A B"},
      {"product in bf16, right transposed", "- i0 i1 r0: A B"},
      {"product in f64", "- i0 i1 r0: A B"},
      {"product with epilogue", "- i0 i1 r0: A B"},
      {"scaled weights", "- i0 i1 r0: x w*scale"},
      {"batched", "i0 i1 i2 r0: A B_"},
      {"lower self product", "- i0 i1 r0: A A"},
      {"triangular", "- i0 i1 r0: L?1 B"},
      // Positions are neighbours in memory: they are n, channels of the result m.
      {"convolution 2d", "- i1 i0,i2,i3 r0,r1,r2: weight input?2"},
      {"convolution 2d in f16", "- i1 i0,i2,i3 r0,r1,r2: weight input?2"},
      {"convolution, channels last", "- i0,i1,i2 i3 r0,r1,r2: input?2 weight"},
      {"transposed convolution 2d", "- i1 i0,i2,i3 r0,r1,r2: weight input?2"},
      {"causal convolution 1d", "- i1 i0,i2 r0,r1: w x?1"},
      {"convolution 3d", "- i1 i0,i2,i3,i4 r0,r1,r2,r3: weight input"},
      {"weighted", "- i0 i1 r0: A*w*s B?1"},
      {"matrix and vector", "no element of a factor is used by several results"},
      {"three factors", "more than two factors"},
  };
  for (const auto& sample : testing::ContractionSamples()) {
    ASSERT_TRUE(core::Validate(sample.form)) << sample.name;
    if (const auto row = expected.find(sample.name); row != expected.end()) {
      EXPECT_EQ(DescribedContraction(sample.form), row->second) << sample.name;
    }
  }
}

// What lifting made of entries by strangers.
TEST(Contraction, OfStrangersEntries) {
  const std::map<std::string, std::string> expected = {
      {"01-student/matMulFixed", "- i0 i1 r0: A B"},
      {"01-student/matVec", "no element of a factor is used by several results"},
      {"01-student/dotProduct", "the sum is of one factor, not of two"},
      {"01-student/columnSums", "the sum is of one factor, not of two"},
      {"06-gemm-zoo/gemm_tn", "- i0 i1 r0: A B"},
      {"06-gemm-zoo/gemm_nt", "- i0 i1 r0: A B"},
      {"06-gemm-zoo/gemm_batched", "i0 i1 i2 r0: A B"},
      {"06-gemm-zoo/bmv_naive", "no element of a factor is used by several results"},
      {"07-shadownet/conv2d_naive", "- i1 i0,i2,i3 r0,r1,r2: weights input?2"},
      {"07-shadownet/dwconv_naive", "no element of a factor is used by several results"},
      {"07-shadownet/conv1d_causal", "- i1 i0,i2 r0,r1: wt x?1"},
      {"07-shadownet/maxpool_naive", "a reduction that is no sum"},
      {"13-losses/cosine_embedding_loss", "several sums in one stage"},
  };
  const auto forms = base::ReadFile(std::string(WW_SOURCE_DIR) + "/tests/golden/stranger-forms.jsonl");
  ASSERT_TRUE(forms);
  std::istringstream lines(*forms);
  size_t seen = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto json = base::ParseJson(line);
    ASSERT_TRUE(json);
    const auto row = expected.find(json->at("entry"));
    if (row == expected.end()) continue;
    const auto form = core::DecodeComputation(base::DumpJson(json->at("computation")));
    ASSERT_TRUE(form) << row->first;
    EXPECT_EQ(DescribedContraction(*form), row->second) << row->first;
    ++seen;
  }
  EXPECT_EQ(seen, expected.size());
}

}  // namespace
}  // namespace warpwright::schedule
