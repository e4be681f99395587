// The text of a value with how tightly it binds: between the files of ExpressionCode alone.
#pragma once

#include <string>

#include "schedule/expression_code.h"

namespace warpwright::schedule {

// As C++ binds operators, loosely first.
enum class Level {
  kChoice,
  kOr,
  kAnd,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEquality,
  kRelation,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kAtom
};

struct ExpressionCode::Piece {
  std::string text;
  Level level = Level::kAtom;
  bool negative = false;  // a minus belongs before it
  std::string Plain() const { return negative ? "-" + (level < Level::kUnary ? "(" + text + ")" : text) : text; }
  std::string At(Level least) const {
    const Level own = negative ? Level::kUnary : level;
    return own < least ? "(" + Plain() + ")" : Plain();
  }
};

// The argument of 1 / x, where the node is that.
inline const core::Call* AsReciprocal(const core::Node& node) {
  const auto* call = std::get_if<core::Call>(&node);
  return call != nullptr && call->function == core::Function::kReciprocal ? call : nullptr;
}

}  // namespace warpwright::schedule
