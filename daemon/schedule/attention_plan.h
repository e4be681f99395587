// A softmax's weights and what they sum up, in one pass: scores are sums of products, weights their exponentials,
// results the weighted sums of a tensor's rows.
//
//   scores[row, column]   = sum_k left[row, k] * right[column, k]
//   largest[row]          = max_column of what is made of a score
//   total[row]            = sum_column exp(the same - largest[row])
//   sums[row, col]        = sum_column exp(the same - largest[row]) * value[column, col]
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "schedule/contraction.h"
#include "schedule/problem.h"

namespace warpwright::schedule {

// A stage's variables by what they are in the whole kernel.
enum class AttentionRole : uint8_t { kBatch, kRow, kColumn, kDepth, kCol };
struct AttentionVariable {
  AttentionRole role = AttentionRole::kBatch;
  size_t batch = 0;  // which one
  bool operator==(const AttentionVariable&) const = default;
};
using AttentionVariables = std::map<core::VariableId, AttentionVariable>;

struct AttentionPlan {
  size_t scores = 0, largest = 0, total = 0, sums = 0;  // stages of the form
  std::vector<size_t> outputs;
  std::map<size_t, AttentionVariables> variables;  // by stage
  Contraction product;                             // of the scores
  std::vector<core::NodeId> score_scale;           // in `scores`: factors of all of its terms
  core::Size col_extent;
  core::NodeId weight = 0;                 // in `sums`: the exponential
  std::vector<core::NodeId> value, scale;  // its other factors: those of columns, and those of rows alone
};
using AttentionPlanOutcome = std::variant<core::RewriteRefusal, AttentionPlan>;

AttentionPlanOutcome PlanAttention(const Problem& problem, const Group& group);

}  // namespace warpwright::schedule
