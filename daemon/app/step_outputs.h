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
// Appends to `file`. Each value stands between delimiters that nobody could have put into it. A value over 400 KB is
// left out and named to `notice`, since GitHub refuses a job's outputs over 1 MB together.
Status WriteStepOutputs(const std::filesystem::path& file, const StepOutputs& outputs,
                        const std::function<void(const std::string&)>& notice);

}  // namespace warpwright::app
