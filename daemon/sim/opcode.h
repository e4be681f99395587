// "ld.global.nc.v4.f32" taken apart: modifiers that mean the same everywhere (types, rounding, .ftz, ...) are decoded,
// the rest is left for the family's code to take. A modifier that is not taken makes the instruction unsupported.
#pragma once

#include <string_view>
#include <vector>

#include "sim/instruction.h"

namespace warpwright::sim {

class Opcode {
 public:
  explicit Opcode(std::string_view text);

  std::string_view family() const { return family_; }
  Type type(size_t i = 0) const { return i < types_.size() ? types_[i] : Type::kNone; }
  size_t type_count() const { return types_.size(); }
  Rounding rounding = Rounding::kDefault;
  bool ftz = false, sat = false, approx = false;

  bool Take(std::string_view word);  // true: it was present, and is now removed
  bool TakeStartingWith(std::string_view prefix);
  bool TakeShape(MatrixShape& shape);  // m16n8k16
  template <typename T, size_t N>
  bool TakeOne(const std::pair<std::string_view, T> (&table)[N], T& out) {
    for (const auto& [name, value] : table)
      if (Take(name)) {
        out = value;
        return true;
      }
    return false;
  }
  bool Empty() const { return rest_.empty(); }  // everything has been understood

 private:
  std::string_view family_;
  std::vector<Type> types_;
  std::vector<std::string_view> rest_;
};

}  // namespace warpwright::sim
