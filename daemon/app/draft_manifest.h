// `warpwright init`: a first .warpwright.yml from what libclang sees and from runs on the simulator. What neither can
// tell (the sizes that matter to the users) is written as a question mark, which `warpwright check` reports until the
// user replaces it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/guess_build.h"
#include "app/probe_entry.h"
#include "core/inspection.h"

namespace warpwright::app {

struct InspectedFile {
  std::string file;  // relative to the repository
  core::Inspection inspection;
  std::map<std::string, ProbeOutcome> probes;  // by entry; of some
  GuessedBuild build = {};
};

// cudaStream_t and the driver API's name for it: a manifest omits such parameters.
bool IsStream(const core::ParameterInfo& parameter);

std::string DraftManifest(const std::vector<InspectedFile>& files);

}  // namespace warpwright::app
