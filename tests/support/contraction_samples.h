// Products of two factors in many layouts, fully staged, each with sizes at which no dimension is a multiple of a tile.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/computation.h"

namespace warpwright::testing {

struct ContractionSample {
  std::string name;
  core::Computation form;
  std::map<std::string, int64_t> sizes;
};
std::vector<ContractionSample> ContractionSamples();
ContractionSample ContractionSampleOf(const std::string& name);  // std::out_of_range

}  // namespace warpwright::testing
