// `warpwright init`: a first .warpwright.yml from what libclang sees. What the source cannot tell (sizes) is written as
// a question mark, which `warpwright check` reports until the user replaces it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/inspection.h"

namespace warpwright::app {

struct InspectedFile {
  std::string file;  // relative to the repository
  core::Inspection inspection;
};

// cudaStream_t and the driver API's name for it: a manifest omits such parameters.
bool IsStream(const core::ParameterInfo& parameter);

std::string DraftManifest(const std::vector<InspectedFile>& files);

}  // namespace warpwright::app
