// Chip data: config/chips/<id>.yml, compiled into the program. Each figure is {value: x, source: "...", estimate:
// true?}; the source is required, so that nobody can add a number without saying where it comes from.
// config/chips/README.md is for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/chip.h"

namespace warpwright::config {

std::vector<std::string> ChipIds();  // sorted
// "sim:a100, sim:h200 or sim:l4": every device that needs no GPU, for help and remedies.
std::string SimulatedDevices();

// An unknown id is kUsage, with the nearest known one.
Result<core::Chip> LoadChip(std::string_view id);

// `path` is for messages.
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
