// Buffers' dimensions as expressions. One that the manifest states as a product is taken apart into its factors:
// positions are then affine in each. In which order the factors of a flat buffer vary the product does not say: as it
// is written, or with its numbers last (`2 * n` for n pairs).
//
// Where channels are in groups, each output reads the inputs of its own group: positions are affine where a dimension
// of all channels is one of groups and one of the channels of a group.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/kernel_spec.h"
#include "core/size_solver.h"

namespace warpwright::lift {

using Dimensions = std::vector<core::Expression>;

enum class FactorOrder : uint8_t { kAsWritten, kNumbersLast };

Dimensions DimensionsOf(const core::BufferArgument& buffer, FactorOrder order = FactorOrder::kAsWritten);

// With every dimension K and C in groups, where the manifest has a buffer [K, C / G, ...] and there are several whole
// groups at some of the shapes at which the entry is looked at. nullopt: there are none.
struct DimensionsInGroups {
  std::vector<Dimensions> buffers;                          // the buffer arguments
  std::vector<std::pair<std::string, std::string>> groups;  // "C" and "G": right where one is a multiple of the other
};
std::optional<DimensionsInGroups> InGroups(const core::KernelSpec& spec, const std::vector<core::Sizes>& shapes);

}  // namespace warpwright::lift
