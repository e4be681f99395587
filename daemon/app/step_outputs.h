// Outputs of a step of GitHub Actions: the file that GITHUB_OUTPUT names.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace warpwright::app {

using StepOutputs = std::vector<std::pair<std::string, std::string>>;
// Appends to `file`. Each value is enclosed in delimiters that its author could not have predicted. A value over 400 KB
// is omitted and reported to `warn`, since GitHub refuses a job's outputs over 1 MB in total.
Status WriteStepOutputs(const std::filesystem::path& file, const StepOutputs& outputs,
                        const std::function<void(const std::string&)>& warn);

}  // namespace warpwright::app
