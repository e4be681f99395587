// Arithmetic on positions (computation.h: Affine). Where a result cannot be expressed (a remainder of a sum), or a size
// overflows, there is none.
#pragma once

#include <map>
#include <optional>

#include "core/computation.h"

namespace warpwright::core {

Affine AffineOf(VariableId variable);
Affine AffineOf(Size constant);

// The variable that the position consists of, if it is nothing else.
std::optional<VariableId> AsVariable(const Affine& position);
// The number that it is, if it has neither variables nor names.
std::optional<int64_t> AsNumber(const Affine& position);

// Like terms merged, zeros dropped, common factors of numerator and divisor removed.
std::optional<Affine> Simplified(const Affine& position);
// With variables replaced by positions; those without an entry stay.
std::optional<Affine> Substituted(const Affine& position, const std::map<VariableId, Affine>& replacements);
std::optional<Guard> Substituted(const Guard& guard, const std::map<VariableId, Affine>& replacements);

}  // namespace warpwright::core
