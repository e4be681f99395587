#include "search/run.h"

namespace warpwright::search {

double RefineRun::Seconds() const { return std::chrono::duration<double>(services.clock.Steady() - started).count(); }

void RefineRun::Say(const std::string& text) const {
  if (services.progress) services.progress(task.spec.name + ": " + text);
}

agents::Situation RefineRun::At() const {
  std::vector<agents::PastAttempt> seen = history;
  seen.insert(seen.end(), tried_for_plan.begin(), tried_for_plan.end());
  return {.spec = task.spec,
          .original = task.original,
          .chip = task.chip,
          .evaluator = services.candidates,
          .form = form ? &*form : nullptr,
          .base = base().candidate,
          .measured = base().measured,
          .features = base().features,
          .gain = bases.size() > 1 ? core::Speedup(original().measured, base().measured) : 1,
          .history = std::move(seen)};
}

void RefineRun::GiveNotice() {
  for (const std::string& note : services.judge.notes())
    if (note.starts_with(core::kCountersNote) && noticed_.insert(note).second && services.warn)
      services.warn(task.spec.name + ": " + note);
}

Result<core::Inspection> RefineRun::Inspect(const core::Candidate& candidate) const {
  return services.candidates.Inspect({task.original.root, task.original.file, candidate.text});
}

Result<agents::ExtractedFeatures> RefineRun::Extract(const core::Candidate& candidate,
                                                     const core::Measured& measured) const {
  WW_ASSIGN(const core::Inspection inspection, Inspect(candidate));
  return agents::ExtractFeaturesOf(
      task.spec, task.chip, inspection, measured,
      {.counted_roofline = &original().features.counted_roofline, .form = form ? &*form : nullptr});
}

Result<judge::Baseline> RefineRun::ReviewOriginal() {
  WW_ASSIGN(judge::Baseline reviewed, services.judge.Prepare());
  GiveNotice();
  return reviewed;
}

Result<core::Verdict> RefineRun::Review(const core::Candidate& candidate, judge::VerificationLevel effort) {
  WW_ASSIGN(core::Verdict verdict, services.judge.Evaluate({task.original.root, task.original.file, candidate.text},
                                                           services.candidates, effort));
  GiveNotice();
  return verdict;
}

}  // namespace warpwright::search
