// Chip data: config/chips/<id>.yml, compiled into the program. Each figure is {value: x, source: "...", estimate:
// true?}; the source is required, so that every number states where it comes from. config/chips/README.md is the
// documentation for contributors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/chip.h"

namespace warpwright::config {

std::vector<std::string> ChipIds();  // sorted
// "sim:a100, sim:h200 or sim:l4": every simulated device, for help texts and remedies.
std::string SimulatedDevices();

// An unknown id is kUsage; the message names the nearest known one.
Result<core::Chip> LoadChip(std::string_view id);

// `path` is used in messages only.
Result<core::Chip> ParseChip(std::string_view text, std::string path);

struct ChipFigure {
  std::string key;
  double value = 0;
  std::string source;
  bool estimate = false;
};
// The figures of a chip with their sources, in the order of core/chip.h.
Result<std::vector<ChipFigure>> LoadChipFigures(std::string_view id);

}  // namespace warpwright::config
