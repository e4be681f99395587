#include <fmt/format.h>

#include "core/quantity.h"
#include "search/steps.h"

namespace warpwright::search {

Result<std::optional<Base>> PromoteStep(RefineRun& run, int round, const EvaluatedCandidate& best) {
  const auto& measured = std::get<core::Measured>(best.verdict);
  if (!ReplacesBase(run.original().measured, run.base().measured, measured)) return std::optional<Base>();
  memory::StepRecord record;
  record.kind = memory::StepKind::kAccept;
  record.round = round;
  record.base = run.base().candidate.hash;
  record.candidate = best.candidate.hash;
  record.method = best.candidate.method;
  record.parameters = best.candidate.parameters;
  Base base;
  base.candidate = best.candidate;
  base.measured = measured;
  base.methods = run.base().methods;
  base.methods.insert(best.candidate.method);
  base.plan = best.plan;
  const auto extract = [&]() -> Result<memory::StepOutcome> {
    run.BeginAcceptance();  // what was found is not lost because the search's part of the time is over
    WW_ASSIGN(base.features, run.Extract(base.candidate, base.measured));
    memory::StepOutcome outcome;
    outcome.candidate = best.candidate.hash;
    outcome.gain = best.gain;
    outcome.accepted = true;
    outcome.summary = fmt::format("new base, {} over the one before", core::FormatGain(best.gain));
    return outcome;
  };
  WW_TRY(run.journal.StepInEveryRun(record, extract));
  return base;
}

}  // namespace warpwright::search
