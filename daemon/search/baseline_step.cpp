#include "agents/generator.h"
#include "search/steps.h"

namespace warpwright {

// A run that goes on prepares the judge again, but starts from what the first one measured: a device does not give the
// same times twice, and other evidence would lead to other plans.
Result<std::variant<Base, TaskResult>> BaselineStep(RefineRun& run) {
  run.Say("measuring the original");
  const Candidate original = Original(run.task.original.text);
  StepRecord record;
  record.kind = StepKind::kBaseline;
  record.candidate = original.hash;
  Inspection inspection;
  const auto extract = [&](const Verdict& verdict) {
    return ExtractFeaturesOf(run.task.spec, run.task.chip, inspection, std::get<Measured>(verdict));
  };
  const auto prepare = [&]() -> Result<StepOutcome> {
    WW_ASSIGN(run.baseline, run.ReviewOriginal());
    StepOutcome outcome;
    outcome.verdict = run.baseline.original;
    outcome.candidate = original.hash;
    outcome.summary = VerdictMessage(run.baseline.original);
    if (!Passed(run.baseline.original)) return outcome;
    WW_ASSIGN(inspection, run.Inspect(original));
    WW_ASSIGN(const ExtractedFeatures features, extract(run.baseline.original));
    outcome.after = {features.evidence.values().begin(), features.evidence.values().end()};
    return outcome;
  };
  WW_ASSIGN(const auto step, run.journal.StepInEveryRun(record, prepare));
  for (const Verdict& verdict : {run.baseline.original, step.outcome.verdict.value_or(run.baseline.original)})
    if (!Passed(verdict)) return TaskResult{"refused", VerdictMessage(verdict), {}, 1};
  const Verdict& verdict = step.outcome.verdict ? *step.outcome.verdict : run.baseline.original;
  WW_ASSIGN(ExtractedFeatures features, extract(verdict));
  return Base{original, std::get<Measured>(verdict), std::move(features), {}};
}

}  // namespace warpwright
