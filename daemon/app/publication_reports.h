// What a run of optimize writes for its users and for later steps: summary, report folder, step outputs.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/optimize.h"

namespace warpwright::app {

// Each is optional.
struct ReportPlaces {
  std::string summary, output;  // files that are appended to
  std::string folder;           // report.json, texts of pull requests and pages
};
struct RunReport {
  std::string report, kernels;  // the result as JSON, and its list of kernels on one line
  std::filesystem::path trajectory;
  RunResult result = RunResult::kError;
};
Status WriteReports(const ReportPlaces& places, const std::vector<OptimizedKernel>& kernels, const RunReport& report,
                    const std::function<void(const std::string&)>& warn);

// What later steps read, where the run failed before there was a result.
Status WriteFailure(const ReportPlaces& places, const std::function<void(const std::string&)>& warn);

}  // namespace warpwright::app
