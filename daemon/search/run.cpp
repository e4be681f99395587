#include "search/run.h"

namespace warpwright {

double RefineRun::Seconds() const { return std::chrono::duration<double>(services.clock.Steady() - started).count(); }

void RefineRun::Say(const std::string& text) const {
  if (services.progress) services.progress(task.spec.name + ": " + text);
}

void RefineRun::GiveNotice() {
  for (const std::string& note : services.judge.notes())
    if (note.starts_with(kCountersNote) && noticed_.insert(note).second && services.notice)
      services.notice(task.spec.name + ": " + note);
}

Result<Inspection> RefineRun::Inspect(const Candidate& candidate) const {
  return services.candidates.Inspect({task.original.root, task.original.file, candidate.text});
}

Result<ExtractedFeatures> RefineRun::Extract(const Candidate& candidate, const Measured& measured) const {
  WW_ASSIGN(const Inspection inspection, Inspect(candidate));
  return ExtractFeaturesOf(task.spec, task.chip, inspection, measured, &original().features.roofline);
}

Result<Baseline> RefineRun::ReviewOriginal() {
  WW_ASSIGN(Baseline reviewed, services.judge.Prepare());
  GiveNotice();
  return reviewed;
}

Result<Verdict> RefineRun::Review(const Candidate& candidate, Effort effort) {
  WW_ASSIGN(Verdict verdict, services.judge.Evaluate({task.original.root, task.original.file, candidate.text},
                                                     services.candidates, effort));
  ++evaluations;
  GiveNotice();
  return verdict;
}

}  // namespace warpwright
