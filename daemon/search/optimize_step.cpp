#include <fmt/format.h>

#include <set>

#include "agents/optimizer.h"
#include "core/device_name.h"
#include "search/steps.h"

namespace warpwright::search {

namespace {

std::optional<core::Scheduling> SchedulingOf(const RefineRun& run) {
  if (!run.form) return std::nullopt;
  const auto device = core::IsSimulated(run.task.device) ? core::DeviceKind::kSim : core::DeviceKind::kCuda;
  return core::Scheduling{run.form->computation, run.task.spec, core::ScheduledCases(run.task.spec, device),
                          run.task.chip};
}

}  // namespace

Result<std::vector<core::Candidate>> OptimizeStep(RefineRun& run, const PlannedRound& round) {
  WW_ASSIGN(const auto attempts, agents::Optimize(run.task.original, run.task.spec.entry, run.base().candidate,
                                                  round.plan, run.services.candidates, SchedulingOf(run)));
  std::vector<core::Candidate> candidates;
  std::set<std::string> reasons;
  for (const agents::Attempt& attempt : attempts) {
    if (const auto* candidate = std::get_if<core::Candidate>(&attempt.outcome)) {
      candidates.push_back(*candidate);
      continue;
    }
    const auto& refusal = std::get<core::RewriteRefusal>(attempt.outcome);
    if (refusal.reason == agents::kChangesNothing || !reasons.insert(refusal.reason).second) continue;
    // Each base has another text, so that the method is asked again; the same answer is no other attempt.
    if (!run.inapplicable.emplace(std::pair(round.plan.method, refusal.reason), refusal.line).second) continue;
    memory::StepRecord record = RecordOf(memory::StepKind::kRewrite, run, round);
    record.parameters = attempt.parameters;
    memory::StepOutcome outcome;
    outcome.summary = refusal.line > 0 ? fmt::format("{} (line {})", refusal.reason, refusal.line) : refusal.reason;
    WW_TRY(run.journal.Step(record, [&] { return outcome; }));
  }
  return candidates;
}

}  // namespace warpwright::search
