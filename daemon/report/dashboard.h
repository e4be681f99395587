// The issue that shows the state of a repository: what is running, what is waiting and for what, what needs review,
// what was ignored, what failed, what it cost. Rendered from values that the daemon fills in; the same values give the
// same text, byte for byte, so that an unchanged state changes nothing on the forge.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "memory/experience.h"
#include "report/explanation.h"

namespace warpwright::report {

inline constexpr std::string_view kDashboardMarker =
    "<!-- warpwright:dashboard -->";  // first line of the body; finds the issue again

struct DashboardJob {
  std::string kernel;
  std::string kind = "optimize";  // or "nightly"
  std::string device, commit;
  std::string since;   // UTC; when it was queued, started or ended
  std::string reason;  // why it waits ("3 of 3 pull requests are open"), or why it failed
  std::string pull_request_url;
  double gain = 0, gain_low = 0, gain_high = 0;  // 0: none
  bool modelled = true;
  int round = 0;  // of a running job; 0: not begun. Changes with every round: leave it 0 if writes are expensive
};

struct DashboardInput {
  std::string repository;  // "owner/name"
  std::string version;
  std::vector<DashboardJob> running, queued;  // in the order in which they will run
  std::vector<DashboardJob> open;             // open pull requests
  std::vector<DashboardJob> waiting;          // finished with a gain, held back by a limit: `reason` names it
  std::vector<DashboardJob> merged;           // pull requests that were merged, the newest first
  std::vector<DashboardJob> regressed;  // slower than in their past, as the last night found: `reason` says since when
  std::vector<memory::LearnedMethod> learned;
  std::vector<DashboardJob> unchanged;  // no improvement found
  std::vector<DashboardJob> failed;     // errors and refusals, with the reason
  std::vector<std::string> ignored;     // kernels that users told warpwright to ignore
  int open_pull_requests = 0, max_open = 0, opened_today = 0, max_per_day = 0;
  double gpu_minutes_today = 0, gpu_minutes_total = 0;
  ModelUse models_today, models_total;
  std::string last_error;  // why the repository could not be polled; empty: it could
};

struct DashboardText {
  std::string title;  // "warpwright dashboard"
  std::string body;   // at most kMaxBodyCharacters, begins with kDashboardMarker
};
DashboardText RenderDashboard(const DashboardInput& input);

}  // namespace warpwright::report
