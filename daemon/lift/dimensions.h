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
#include "core/lifting.h"
#include "core/size_solver.h"

namespace warpwright::lift {

using Dimensions = std::vector<core::Expression>;

enum class FactorOrder : uint8_t { kAsWritten, kNumbersLast };

Dimensions DimensionsOf(const core::BufferArgument& buffer, FactorOrder order = FactorOrder::kAsWritten);

using Groups = std::vector<std::pair<std::string, std::string>>;  // "C" and "G": C in G whole groups

// With every dimension K and C in groups, where there are several whole ones at some of the shapes at which the entry
// is looked at. nullopt: there are none.
struct DimensionsInGroups {
  std::vector<Dimensions> buffers;  // the buffer arguments
  Groups groups;                    // right where one is a multiple of the other
};
// By the manifest: a buffer is [K, C / G, ...].
std::optional<DimensionsInGroups> InGroups(const core::KernelSpec& spec, const std::vector<core::Sizes>& shapes);
// By the cases: of `divided`, what are dimensions, in so many groups as no batch is. No buffer need have any groups.
std::optional<DimensionsInGroups> InGroups(const core::KernelSpec& spec, const std::vector<core::Sizes>& shapes,
                                           const std::vector<core::DividedSize>& divided);
// Whether there are some by the cases whose number is for nothing else: no input is as long.
bool HasGroups(const core::KernelSpec& spec, const std::vector<core::Sizes>& shapes,
               const std::vector<core::DividedSize>& divided);

}  // namespace warpwright::lift
