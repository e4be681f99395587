// Sums of which several blocks make parts: where results are fewer than fill the chip, and sums are long (split-K).
#pragma once

#include <optional>
#include <string>

#include "schedule/contraction_tile.h"
#include "schedule/partials.h"
#include "schedule/row_plan.h"

namespace warpwright::schedule {

struct SumParts {
  Partials storage;
  RowPlan plan;        // a row for each result
  int64_t blocks = 0;  // that fill the chip
};

// None: there are tiles enough in the case that counts most, sums are short, or a part may be no number where its sum
// is one.
std::optional<SumParts> SumPartsOf(const Problem& problem, const Group& group, const ContractionGroup& contraction,
                                   const TileShape& shape);

// Statements of the launcher that set the number of `parts`, when there are this many tiles.
std::string NumberOfParts(const Problem& problem, const SumParts& parts, const ContractionGroup& contraction,
                          const std::string& name, const std::string& tiles);

// The kernel that adds up the parts and makes the outputs, with its launch.
CodeOutcome FinishSums(const Problem& problem, const Group& group, const ContractionGroup& contraction,
                       const SumParts& parts, const std::string& number_of_parts);

}  // namespace warpwright::schedule
