// `warpwright init`: a first .warpwright.yml from what libclang sees. What the source cannot tell (sizes) stands as a
// question mark, which `warpwright check` points out until somebody answers it.
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

// cudaStream_t and the driver API's name for it: a manifest leaves such parameters out.
bool IsStream(const core::ParameterInfo& parameter);

std::string DraftManifest(const std::vector<InspectedFile>& files);

}  // namespace warpwright::app
