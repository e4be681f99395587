#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/entry_text.h"
#include "core/quantity.h"
#include "search/steps.h"

namespace warpwright::search {
namespace {

std::string Describe(const core::Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += (text.empty() ? "" : ", ") + name + "=" + value;
  return text;
}

// Evidence and the counters of the hottest launch, by name: what predictions are compared with.
std::map<std::string, double> Numbers(const agents::ExtractedFeatures& features, const core::Measured& measured) {
  std::map<std::string, double> numbers(features.evidence.values().begin(), features.evidence.values().end());
  for (const auto& c : measured.cases) {
    if (c.case_name != features.case_name) continue;
    core::Counters total;
    std::set<std::string> unmeasured;
    for (const auto& launch : c.launches) {
      total.Add(launch.counters);
      unmeasured.insert(launch.unmeasured.begin(), launch.unmeasured.end());
    }
    for (const auto& field : core::Fields(total))
      if (const std::string name(field.name); unmeasured.count(name) == 0)
        numbers[name] = static_cast<double>(field.value);
  }
  return numbers;
}

double TotalTime(const core::Measured& measured) {
  double total = 0;
  for (const auto& c : measured.cases) total += c.weight * c.time_us;
  return total;
}

// The verdict, and what it means for the present base.
EvaluatedCandidate Weigh(const RefineRun& run, const core::Candidate& candidate, const core::Verdict& verdict) {
  EvaluatedCandidate reviewed;
  reviewed.candidate = candidate;
  reviewed.verdict = verdict;
  if (const auto* measured = std::get_if<core::Measured>(&verdict)) {
    reviewed.gain = core::Speedup(run.base().measured, *measured);
    reviewed.worst_case = WorstCase(run.original().measured, *measured);
  }
  return reviewed;
}

std::string Summarize(const EvaluatedCandidate& reviewed) {
  if (!core::Passed(reviewed.verdict)) return core::VerdictMessage(reviewed.verdict);
  if (reviewed.gain >= kMinGain && reviewed.worst_case < kMinCaseGain)
    return fmt::format("faster over all cases, but one takes {:.0f} % longer: not taken ({})",
                       100 / reviewed.worst_case - 100, reviewed.candidate.summary);
  return reviewed.candidate.summary;
}

// What the author of a plan foretells: a card of its method, or a model for itself.
skills::MethodCard ClaimsOf(const core::Plan& plan, const skills::MethodCard* card) {
  skills::MethodCard claims;
  if (plan.author.empty() && card != nullptr) claims.expected = card->expected;
  if (plan.author.empty()) return claims;
  for (const core::Prediction& one : plan.expected)
    claims.expected.push_back({.name = one.field, .up = one.direction > 0, .factor = one.factor});
  return claims;
}

// What a cause may say of the kernel. Facts of the formula are of the whole entry, and hold for its hottest kernel
// where that is all of it, or what is written anew is.
std::map<std::string, double> FactsOf(const memory::StepOutcome& outcome, const skills::MethodCard& card) {
  std::map<std::string, double> facts = outcome.after;
  const auto launches = outcome.before.find("launches");
  const bool whole =
      card.transform.starts_with(core::kSchedulePrefix) || (launches != outcome.before.end() && launches->second == 1);
  if (!whole) std::erase_if(facts, [](const auto& fact) { return fact.first.starts_with("reduction_"); });
  return facts;
}

Result<memory::StepOutcome> OutcomeOf(const RefineRun& run, const EvaluatedCandidate& reviewed,
                                      const skills::MethodCard& claims, const skills::MethodCard* card) {
  memory::StepOutcome outcome;
  outcome.candidate = reviewed.candidate.hash;
  outcome.verdict = reviewed.verdict;
  outcome.summary = Summarize(reviewed);
  const auto* measured = std::get_if<core::Measured>(&reviewed.verdict);
  if (measured == nullptr) return outcome;
  const Base& base = run.base();
  outcome.gain = reviewed.gain;
  outcome.time_before_us = TotalTime(base.measured);
  outcome.time_after_us = TotalTime(*measured);
  WW_ASSIGN(const agents::ExtractedFeatures features, run.Extract(reviewed.candidate, *measured));
  outcome.before = Numbers(base.features, base.measured);
  outcome.after = Numbers(features, *measured);
  outcome.prediction = skills::ComparePredictions(claims, outcome.before, outcome.after);
  if (card != nullptr)  // its sentences cite its own figures
    outcome.causes = skills::SupportedCauses(*card, skills::ComparePredictions(*card, outcome.before, outcome.after),
                                             FactsOf(outcome, *card));
  return outcome;
}

Status Remember(const RefineRun& run, const memory::ExperienceKey& key, const EvaluatedCandidate& reviewed) {
  memory::Experience experience;
  experience.key = key;
  experience.method = reviewed.candidate.method;
  experience.parameters = reviewed.candidate.parameters;
  experience.outcome = core::KindOf(reviewed.verdict);
  experience.log_gain = reviewed.gain > 0 ? std::log(reviewed.gain) : 0;
  experience.modelled = run.base().measured.modelled;
  experience.kernel = run.task.spec.name;
  experience.source = run.base().candidate.hash;
  experience.toolchain = run.task.toolchain;
  experience.version = run.task.version;
  experience.time = base::FormatUtc(run.services.clock.Now());
  return run.services.experience.Append(experience);
}

// The hash of the text that was judged first with the tokens of this one; of a text that cannot be read, its own.
Result<std::string> FirstOfTokens(RefineRun& run, const core::Candidate& candidate) {
  const auto entry =
      core::ReadEntryText(run.services.candidates, run.task.original.With(candidate.text), run.task.spec.entry);
  if (!entry && entry.error().code != ErrorCode::kUnsupported) return Fail(entry.error());
  if (!entry) return candidate.hash;
  return run.judged_by_tokens.emplace(entry->slice_hash, candidate.hash).first->second;
}

// The hash of the text that was judged with the same tokens, which is the same to the compilers; else its own. What
// transformations write differs by construction, and is read only when a model's text may equal it.
Result<std::string> JudgedAs(RefineRun& run, const PlannedRound& round, const core::Candidate& candidate) {
  if (round.plan.author.empty()) {
    run.unread.push_back(candidate);
    return candidate.hash;
  }
  if (run.judged_by_tokens.empty()) WW_TRY(FirstOfTokens(run, run.original().candidate));
  for (const core::Candidate& earlier : run.unread) WW_TRY(FirstOfTokens(run, earlier));
  run.unread.clear();
  return FirstOfTokens(run, candidate);
}

}  // namespace

Result<EvaluatedCandidate> ReviewStep(RefineRun& run, const PlannedRound& round, const core::Candidate& candidate,
                                      const RepairOf& repair) {
  const skills::MethodCard* card = run.services.skills.Find(round.plan.method);
  memory::StepRecord record = RecordOf(memory::StepKind::kEvaluate, run, round);
  record.attempt = repair.attempt;
  record.repairs = repair.failed;
  record.candidate = candidate.hash;
  record.parameters = candidate.parameters;
  const skills::MethodCard claims = ClaimsOf(round.plan, card);
  record.prediction = claims.expected;
  WW_TRY(run.services.trajectory.PutCandidate(run.id, candidate));
  WW_ASSIGN(const std::string judged_as, JudgedAs(run, round, candidate));
  if (round.plan.author.empty()) run.evaluated.insert(judged_as);
  bool is_new = false;
  const auto review = [&]() -> Result<memory::StepOutcome> {
    const double begin = run.Seconds();
    // Another round, or another base, may have led to the same text: it is judged once in a task.
    WW_ASSIGN(auto known, run.services.trajectory.FindEvaluation(run.id, judged_as));
    is_new = !known || !known->verdict;
    if (is_new) {
      known.emplace();
      WW_ASSIGN(known->verdict, run.Review(candidate, judge::VerificationLevel::kQuick));
    }
    WW_ASSIGN(memory::StepOutcome outcome, OutcomeOf(run, Weigh(run, candidate, *known->verdict), claims, card));
    outcome.seconds = run.Seconds() - begin;
    return outcome;
  };
  WW_ASSIGN(const auto step, run.journal.Step(record, review));
  if (!step.outcome.verdict)
    return Fail(ErrorCode::kCorrupt, fmt::format("step {} of the trajectory has no verdict", step.id));
  EvaluatedCandidate reviewed = Weigh(run, candidate, *step.outcome.verdict);
  reviewed.step = step.id;
  run.evaluation_seconds += step.outcome.seconds;
  ++run.evaluations;
  reviewed.plan = round.plan;
  run.Say(fmt::format("round {}: {} ({}): {}", round.number, round.plan.method, Describe(candidate.parameters),
                      reviewed.gain > 0 ? core::FormatGain(reviewed.gain) : core::VerdictMessage(reviewed.verdict)));
  run.any_passed = run.any_passed || reviewed.gain > 0;
  if (const auto* measured = std::get_if<core::Measured>(&reviewed.verdict))
    run.found = run.found || core::Speedup(run.original().measured, *measured) >= run.task.policy.min_speedup;
  if (reviewed.gain == 0 && run.first_failure.empty())
    run.first_failure = fmt::format("{}: {}", round.plan.method, core::VerdictMessage(reviewed.verdict));
  run.Note({.base = run.base_number(),
            .method = round.plan.method,
            .parameters = candidate.parameters,
            .gain = reviewed.gain,
            .outcome = Summarize(reviewed)});
  if (is_new) WW_TRY(Remember(run, round.key, reviewed));
  return reviewed;
}

}  // namespace warpwright::search
