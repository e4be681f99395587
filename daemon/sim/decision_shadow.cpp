#include "sim/decision_shadow.h"

#include <bit>
#include <cstring>
#include <optional>

#include "sim/exec/context.h"
#include "sim/instruction.h"

namespace warpwright::sim {
namespace {

constexpr size_t kMost = 256;

template <typename T>
double Load(const Context& c, uint32_t offset, uint32_t lane) {
  // Registers are as wide as the numbers in them, and at least four bytes.
  constexpr uint32_t kWidth = sizeof(T) < 4 ? 4 : sizeof(T);
  T value;
  std::memcpy(&value, c.registers + offset + lane * kWidth, sizeof(T));
  return static_cast<double>(value);
}

std::optional<double> ValueOf(const Context& c, Type type, uint32_t offset, uint32_t lane) {
  switch (type) {
    case Type::kS32:
    case Type::kB32: return Load<int32_t>(c, offset, lane);
    case Type::kU32: return Load<uint32_t>(c, offset, lane);
    case Type::kS64:
    case Type::kB64: return Load<int64_t>(c, offset, lane);
    case Type::kU64: return Load<uint64_t>(c, offset, lane);
    case Type::kF32: return Load<float>(c, offset, lane);
    case Type::kF64: return Load<double>(c, offset, lane);
    default: return std::nullopt;  // narrow numbers are no sizes
  }
}

bool IsEquality(Compare compare) {
  return compare == Compare::kEq || compare == Compare::kNe || compare == Compare::kEqu || compare == Compare::kNeu;
}

}  // namespace

void DecisionShadow::Before(const Context& c, const Instruction& in, uint32_t lanes) {
  if (in.op != Op::kSetPredicate || lanes == 0) return;
  auto found = sites_.find(&in);
  if (found == sites_.end()) {
    if (sites_.size() == kMost) return;
    found = sites_.try_emplace(&in).first;
    const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
    const auto left = ValueOf(c, in.type, in.reg[in.defs], first),
               right = ValueOf(c, in.type, in.reg[in.defs + 1], first);
    found->second.varies = !left || !right || *left != *left || *right != *right;
    if (!found->second.varies) found->second.decision = {*left, *right, IsEquality(in.compare)};
  }
  Site& site = found->second;
  for (uint32_t m = site.varies ? 0 : lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    site.varies = site.varies || ValueOf(c, in.type, in.reg[in.defs], lane) != site.decision.left ||
                  ValueOf(c, in.type, in.reg[in.defs + 1], lane) != site.decision.right;
  }
}

std::vector<core::Decision> DecisionShadow::Decisions() const {
  std::vector<core::Decision> decisions;
  for (const auto& [instruction, site] : sites_)
    if (!site.varies) decisions.push_back(site.decision);
  return decisions;
}

}  // namespace warpwright::sim
