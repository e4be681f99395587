// How a run ends.
#include <fmt/format.h>

#include "search/steps.h"

namespace warpwright::search {

Result<RefineResult> Conclude(const RefineRun& run, memory::TaskResult result, std::string text) {
  WW_TRY(run.services.trajectory.FinishTask(run.id, result));
  RefineResult out;
  out.task = run.id;
  out.result = std::move(result);
  out.text = std::move(text);
  out.baseline = run.baseline;
  out.rounds = run.rounds;
  out.evaluations = run.evaluations;
  out.seconds = run.Seconds();
  return out;
}

Result<RefineResult> ConcludeImproved(const RefineRun& run, const Base& base, Accepted accepted) {
  memory::TaskResult improved{.outcome = core::TaskOutcome::kImproved,
                              .message = std::move(accepted.summary),
                              .best_hash = std::move(accepted.hash),
                              .gain = accepted.gain};
  WW_ASSIGN(RefineResult out, Conclude(run, std::move(improved), std::move(accepted.text)));
  out.accepted = std::move(accepted.measured);
  out.roofline_pct_before = run.original().features.evidence.GetOr("roofline_pct", 0);
  out.roofline_pct_after = base.features.evidence.GetOr("roofline_pct", 0);
  return out;
}

Result<RefineResult> ConcludeUnchanged(const RefineRun& run) {
  std::string message = fmt::format("no improvement found in {} rounds", run.rounds);
  if (run.bases.size() > 1)
    message += fmt::format(" (the best candidate gave {:.2f}x; the policy asks for {:.2f}x)",
                           core::Speedup(run.original().measured, run.base().measured), run.task.policy.min_speedup);
  else if (const double share = run.original().features.evidence.GetOr("roofline_pct", 0); share > 0)
    message += fmt::format("; the original is at {:.0f} % of the roofline{}", share,
                           run.original().features.roofline.of_formula ? " of its formula" : "");
  return Conclude(run, {.outcome = core::TaskOutcome::kUnchanged, .message = std::move(message)});
}

Result<RefineResult> Recall(const RefineRun& run, const memory::TaskResult& result) {
  run.Say("this task is finished already");
  if (result.best_hash.empty()) return Conclude(run, result);
  WW_ASSIGN(const auto best, run.services.trajectory.FindCandidate(run.id, result.best_hash));
  return Conclude(run, result, best ? best->text : std::string());
}

}  // namespace warpwright::search
