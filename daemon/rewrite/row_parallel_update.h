// The forms in which a reduction is written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rewrite/structural.h"

namespace warpwright::rewrite {

enum class ReductionKind { kSum, kProduct, kMax, kMin, kAnd, kOr, kBitAnd, kBitOr, kBitXor, kArgMax, kArgMin };

// One update of a variable, with the uses of it that belong to the update.
struct ReductionUpdate {
  ReductionKind kind;
  const source::Node* statement;  // the kAssign or kIf
  std::vector<const source::Node*> own_uses;
  const source::Node* index_assignment = nullptr;  // kArgMax, kArgMin
  bool last_wins = false;
};

// `node` as an update of the variable: x += e, x = x * e, x = fmaxf(x, e), x = e > x ? e : x, if (e > x) x = e, ...
std::optional<ReductionUpdate> MatchReductionUpdate(const source::SyntaxFunction& kernel, const std::string& symbol,
                                                    const source::Node& node);

}  // namespace warpwright::rewrite
