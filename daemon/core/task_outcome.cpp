#include "core/task_outcome.h"

namespace warpwright::core {

std::string_view Name(TaskOutcome outcome) {
  switch (outcome) {
    case TaskOutcome::kImproved: return "improved";
    case TaskOutcome::kUnchanged: return "unchanged";
    case TaskOutcome::kRefused: return "refused";
    case TaskOutcome::kError: return "error";
    case TaskOutcome::kUnfinished: return "unfinished";
    case TaskOutcome::kDetected: return "detected";
    case TaskOutcome::kChecked: return "checked";
    case TaskOutcome::kRegression: return "regression";
    case TaskOutcome::kIgnored: return "ignored";
    case TaskOutcome::kSuperseded: return "superseded";
    case TaskOutcome::kCancelled: return "cancelled";
  }
  return "?";
}

}  // namespace warpwright::core
