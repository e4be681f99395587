// The toolkit's own tool checks an accepted winner once more: compute-sanitizer's four over a worker that runs the
// smallest case. The judge has checked all that they check; they are there for reviewers who know them, and because two
// implementations seldom have the same hole. Each reports whether it ran. What nvcc says is app/nvcc_kernels.h.
//
// The worker under compute-sanitizer is the same program in the same sandbox, with the tool as a prefix of its command
// line.
#pragma once

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
  std::filesystem::path compute_sanitizer;  // empty: not installed
  base::Deadline* deadline = nullptr;       // of the task; what it cuts short did not run
};
// In $CUDA_HOME/bin, on PATH, in /usr/local/cuda/bin.
AcceptanceTools FindAcceptanceTools();

// `request`: one run of the winner on a small case, on a real device. `kernels`: names of its kernels; only these are
// checked.
std::vector<core::ToolFinding> RunSanitizers(const AcceptanceTools& tools, const WorkerCommand& worker,
                                             const core::ExecuteRequest& request,
                                             const std::vector<std::string>& kernels);

// The finding in a log of compute-sanitizer; nullopt if it contains no summary, since the tool then did not finish.
std::optional<core::ToolFinding> ReadSanitizerLog(const std::string& tool, std::string_view log);

}  // namespace warpwright::worker
