#include "agents/generator.h"
#include "search/steps.h"

namespace warpwright::search {

// A resumed run prepares the judge again, but starts from what the first run measured: a device does not give the same
// times twice, and different evidence would lead to different plans.
Result<std::variant<Base, memory::TaskResult>> BaselineStep(RefineRun& run) {
  run.Say("measuring the original");
  const core::Candidate original = agents::Original(run.task.original.text);
  memory::StepRecord record;
  record.kind = memory::StepKind::kBaseline;
  record.candidate = original.hash;
  const auto extract = [&](const core::Verdict& verdict) {
    return agents::ExtractFeaturesOf(run.task.spec, run.task.chip, run.original_inspection,
                                     std::get<core::Measured>(verdict));
  };
  const auto prepare = [&]() -> Result<memory::StepOutcome> {
    WW_ASSIGN(run.baseline, run.ReviewOriginal());
    memory::StepOutcome outcome;
    outcome.verdict = run.baseline.original;
    outcome.candidate = original.hash;
    outcome.summary = core::VerdictMessage(run.baseline.original);
    if (!core::Passed(run.baseline.original)) return outcome;
    WW_ASSIGN(run.original_inspection, run.Inspect(original));
    WW_ASSIGN(const agents::ExtractedFeatures features, extract(run.baseline.original));
    outcome.after = {features.evidence.values().begin(), features.evidence.values().end()};
    return outcome;
  };
  WW_ASSIGN(const auto step, run.journal.StepInEveryRun(record, prepare));
  for (const core::Verdict& verdict : {run.baseline.original, step.outcome.verdict.value_or(run.baseline.original)})
    if (!core::Passed(verdict))
      return memory::TaskResult{.outcome = core::TaskOutcome::kRefused, .message = core::VerdictMessage(verdict)};
  const core::Verdict& verdict = step.outcome.verdict ? *step.outcome.verdict : run.baseline.original;
  WW_ASSIGN(agents::ExtractedFeatures features, extract(verdict));
  return Base{original, std::get<core::Measured>(verdict), std::move(features), {}};
}

}  // namespace warpwright::search
