// The toolkit's own tools check an accepted winner once more: compute-sanitizer's four over a worker that runs the
// smallest case, and nvcc over the file as it will be committed. The judge has checked all that they check; they are
// there for reviewers who know them, and because two implementations seldom have the same hole. Each reports whether it
// ran.
//
// The worker under compute-sanitizer is the same program in the same sandbox, with the tool as a prefix of its command
// line; candidate host code is compiled by nvcc and never run.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.h"
#include "core/evaluator.h"
#include "core/tool_finding.h"
#include "worker/supervisor.h"

namespace warpwright::worker {

struct AcceptanceTools {
  std::filesystem::path nvcc, compute_sanitizer;                      // empty: not installed
  std::chrono::milliseconds nvcc_deadline = std::chrono::minutes(5);  // for each run; one that misses it refuses
  base::Deadline* deadline = nullptr;                                 // of the task; what it cuts short did not run
};
// In $CUDA_HOME/bin, on PATH, in /usr/local/cuda/bin.
AcceptanceTools FindAcceptanceTools();

// `request`: one run of the winner on a small case, on a real device. `kernels`: names of its kernels; only these are
// checked.
std::vector<core::ToolFinding> RunSanitizers(const AcceptanceTools& tools, const WorkerCommand& worker,
                                             const core::ExecuteRequest& request,
                                             const std::vector<std::string>& kernels);
// `architecture`: "sm_90".
core::ToolFinding BuildWithNvcc(const AcceptanceTools& tools, const core::SourceRef& source,
                                const std::string& architecture);

// The finding in a log of compute-sanitizer; nullopt if it contains no summary, since the tool then did not finish.
std::optional<core::ToolFinding> ReadSanitizerLog(const std::string& tool, std::string_view log);

}  // namespace warpwright::worker
