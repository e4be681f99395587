#include "search/run.h"

#include <algorithm>

namespace warpwright::search {
namespace {

// A full verification takes about as long as these quick ones (simulated: 5 to 15).
constexpr double kReviewsPerAcceptance = 10;
// Of the limit. A gain that is not verified at its end is none: of a short one most is left for that, once there is
// one.
constexpr double kLeastAcceptanceShare = 0.25, kMostAcceptanceShare = 0.7;

}  // namespace

double RefineRun::Seconds() const { return std::chrono::duration<double>(services.clock.Steady() - started).count(); }

void RefineRun::Say(const std::string& text) const {
  if (services.progress) services.progress(task.spec.name + ": " + text);
}

std::optional<size_t> RefineRun::BestToAccept() const {
  const auto best = pool.Best();
  return best && pool.GainOf(*best) >= task.policy.min_speedup ? best : std::nullopt;
}

agents::Situation RefineRun::At() const {
  std::vector<agents::PastAttempt> seen = history;
  seen.insert(seen.end(), tried_for_plan.begin(), tried_for_plan.end());
  return {.spec = task.spec,
          .original = task.original,
          .chip = task.chip,
          .evaluator = services.candidates,
          .form = form ? &*form : nullptr,
          .segments = segments,
          .base = base().candidate,
          .measured = base().measured,
          .features = base().features,
          .gain = pool.present_number() > 0 ? core::Speedup(original().measured, base().measured) : 1,
          .history = std::move(seen)};
}

void RefineRun::Await(const agents::Waiting& waiting) {
  pending.insert(pending.end(), waiting.questions.begin(), waiting.questions.end());
  failures.insert(failures.end(), waiting.failures.begin(), waiting.failures.end());
}

double RefineRun::SearchSeconds() const {
  const double limit = 60 * task.policy.max_minutes;
  // As long as there is nothing to accept, time is better spent on finding it.
  const double most_share = found ? kMostAcceptanceShare : kLeastAcceptanceShare;
  return limit - std::clamp(kReviewsPerAcceptance * longest_review, kLeastAcceptanceShare * limit, most_share * limit);
}

void RefineRun::EndAfter(double seconds) const {
  if (services.deadline != nullptr)
    services.deadline->Set(started + std::chrono::duration_cast<base::Deadline::TimePoint::duration>(
                                         std::chrono::duration<double>(seconds)));
}

void RefineRun::WarnOfCounters() {
  for (const std::string& note : services.judge.notes())
    if (note.starts_with(core::kCountersNote) && warned_.insert(note).second && services.warn)
      services.warn(task.spec.name + ": " + note);
}

Result<core::Inspection> RefineRun::Inspect(const core::Candidate& candidate) const {
  return services.candidates.Inspect(task.original.With(candidate.text));
}

Result<agents::ExtractedFeatures> RefineRun::Extract(const core::Candidate& candidate,
                                                     const core::Measured& measured) const {
  WW_ASSIGN(const core::Inspection inspection, Inspect(candidate));
  return agents::ExtractFeaturesOf(
      task.spec, task.chip, inspection, measured,
      {.counted_roofline = &original().features.counted_roofline, .form = form ? &*form : nullptr});
}

Result<judge::Baseline> RefineRun::ReviewOriginal() {
  BeginAcceptance();
  WW_ASSIGN(judge::Baseline reviewed, services.judge.Prepare());
  WarnOfCounters();
  return reviewed;
}

Result<core::Verdict> RefineRun::Review(const core::Candidate& candidate, judge::VerificationLevel effort) {
  const bool quick = effort == judge::VerificationLevel::kQuick;
  if (quick) EndAfter(SearchSeconds());
  else BeginAcceptance();
  const double begin = Seconds();
  WW_ASSIGN(core::Verdict verdict,
            services.judge.Evaluate(task.original.With(candidate.text), services.candidates, effort));
  // A check that was not finished is no check that was passed.
  if (BrokeOff()) return Fail(services.deadline->BreakOff());
  if (quick) longest_review = std::max(longest_review, Seconds() - begin);
  WarnOfCounters();
  return verdict;
}

}  // namespace warpwright::search
