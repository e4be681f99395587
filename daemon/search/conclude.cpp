// How a run ends.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/quantity.h"
#include "search/steps.h"

namespace warpwright::search {
namespace {

// "every transformation refused: two nested reduction loops (row_parallel, line 41)"; the reasons that most methods
// gave come first.
std::string Refusals(const RefineRun& run) {
  constexpr size_t kShown = 3;
  struct Reason {
    std::string text;
    std::set<std::string> methods;
    int line = 0;
  };
  std::vector<Reason> reasons;
  for (const auto& [key, line] : run.inapplicable) {
    const auto& [method, text] = key;
    auto found = std::find_if(reasons.begin(), reasons.end(), [&, &t = text](const Reason& r) { return r.text == t; });
    if (found == reasons.end()) found = reasons.insert(found, {text, {}, line});
    found->methods.insert(method);
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.methods.size() > b.methods.size(); });
  std::string out;
  for (size_t i = 0; i < reasons.size() && i < kShown; ++i)
    out += fmt::format("{}{} ({}{})", i == 0 ? "" : "; ", reasons[i].text, fmt::join(reasons[i].methods, ", "),
                       reasons[i].line > 0 ? fmt::format(", line {}", reasons[i].line) : "");
  if (reasons.size() > kShown) out += fmt::format("; and {} more reasons", reasons.size() - kShown);
  return out;
}

// The cause, not the number of rounds that it took to find it.
std::string WhyUnchanged(const RefineRun& run, const memory::TaskCounts& counts) {
  if (run.pool.empty())
    return fmt::format("nothing was tried: the limit of {:g} minutes was over before the original was measured",
                       run.task.policy.max_minutes);
  const auto* measured = std::get_if<core::Measured>(&run.baseline.original);
  if (measured != nullptr && !measured->cases.empty() &&
      std::none_of(measured->cases.begin(), measured->cases.end(), [](const auto& c) { return c.weight > 0; }))
    return fmt::format(
        "no gain can be shown on {}: none of the cases that run there has a weight; give one `weight: 1` in the "
        "manifest, "
        "or use the device that the others are for",
        measured->device);
  const core::Evidence& evidence = run.original().features.evidence;
  const std::string rounds = fmt::format("{} round{}", counts.rounds, counts.rounds == 1 ? "" : "s");
  if (run.pool.size() > 1) {
    const std::string best = "the best candidate gave " + core::FormatGain(run.pool.LargestGain());
    if (!run.not_accepted.empty())
      return fmt::format("no improvement found in {}: {} and was not accepted ({})", rounds, best, run.not_accepted);
    return fmt::format("no improvement found in {} ({}; the policy asks for {})", rounds, best,
                       core::FormatGain(run.task.policy.min_speedup));
  }
  if (counts.rounds == 0 && !run.inapplicable.empty()) return "every transformation refused: " + Refusals(run);
  if (counts.rounds == 0 && !run.out_of_plans.empty()) return "nothing was tried: " + run.out_of_plans;
  if (counts.rounds == 0 && run.OutOfTime())
    return fmt::format("nothing was tried: the limit of {:g} minutes was over first", run.task.policy.max_minutes);
  std::string message = "no improvement found in " + rounds;
  if (!run.any_passed && !run.first_failure.empty()) message += ": no candidate passed (" + run.first_failure + ")";
  if (run.OutOfTime()) message += fmt::format("; the limit of {:g} minutes ended it", run.task.policy.max_minutes);
  else if (run.OutOfEvaluations()) message += fmt::format("; {} evaluations are the limit", kMaxEvaluations);
  if (const double share = evidence.GetOr("roofline_pct", 0); share > 0)
    message += fmt::format("; the original is at {:.0f} % of the roofline", share);
  return message;
}

double RooflineIn(const std::map<std::string, double>& evidence) {
  const auto found = evidence.find("roofline_pct");
  return found == evidence.end() ? 0 : found->second;
}

}  // namespace

Result<RefineResult> Conclude(const RefineRun& run, memory::TaskResult result, std::string text) {
  WW_TRY(run.services.trajectory.FinishTask(run.id, result));
  RefineResult out;
  out.task = run.id;
  out.result = std::move(result);
  out.text = std::move(text);
  out.baseline = run.baseline;
  WW_ASSIGN(out.counts, run.services.trajectory.Counts(run.id));
  out.seconds = run.Seconds();
  return out;
}

Result<RefineResult> ConcludeImproved(const RefineRun& run, const Base& base, Accepted accepted) {
  memory::TaskResult improved{.outcome = core::TaskOutcome::kImproved,
                              .message = std::move(accepted.summary),
                              .best_hash = std::move(accepted.hash),
                              .gain = accepted.gain};
  WW_ASSIGN(RefineResult out, Conclude(run, std::move(improved), std::move(accepted.text)));
  if (!run.failures.empty() && run.services.warn)
    run.services.warn(fmt::format("{}: accepted without asking on: a model could not be asked ({})", run.task.spec.name,
                                  run.failures.front()));
  out.accepted = std::move(accepted.measured);
  out.roofline_pct_before = run.original().features.evidence.GetOr("roofline_pct", 0);
  out.roofline_pct_after = base.features.evidence.GetOr("roofline_pct", 0);
  return out;
}

Result<RefineResult> ConcludeUnchanged(const RefineRun& run) {
  WW_ASSIGN(const memory::TaskCounts counts, run.services.trajectory.Counts(run.id));
  WW_ASSIGN(RefineResult out,
            Conclude(run, {.outcome = core::TaskOutcome::kUnchanged, .message = WhyUnchanged(run, counts)}));
  out.out_of_time = run.pool.empty() || run.OutOfTime() || run.BrokeOff();
  return out;
}

Result<RefineResult> LeaveUnverified(const RefineRun& run, size_t best) {
  RefineResult out;
  out.task = run.id;
  out.result = {.outcome = core::TaskOutcome::kUnfinished,
                .message = fmt::format("the best version so far is {} as fast, and the limit of {:g} minutes was "
                                       "over before it was verified; the same command goes on from there",
                                       core::FormatGain(run.pool.GainOf(best)), run.task.policy.max_minutes)};
  out.baseline = run.baseline;
  WW_ASSIGN(out.counts, run.services.trajectory.Counts(run.id));
  out.seconds = run.Seconds();
  out.out_of_time = true;
  return out;
}

Result<RefineResult> Pause(const RefineRun& run) {
  RefineResult out;
  out.task = run.id;
  out.pending = run.pending;
  std::vector<std::string> names;
  for (const std::string& question : run.pending) names.push_back(question.substr(0, 12));
  out.result = {
      .outcome = core::TaskOutcome::kUnfinished,
      .message = fmt::format("{} question{} wait{} for an answer: {}", names.size(), names.size() == 1 ? "" : "s",
                             names.size() == 1 ? "s" : "", fmt::join(names, ", "))};
  if (!run.failures.empty())
    out.result.message += fmt::format("; a model could not be asked ({}): run again later", run.failures.front());
  out.baseline = run.baseline;
  WW_ASSIGN(out.counts, run.services.trajectory.Counts(run.id));
  out.seconds = run.Seconds();
  return out;
}

Result<RefineResult> Recall(const RefineRun& run, const memory::TaskResult& result) {
  run.Say("this task is finished already");
  if (result.best_hash.empty()) return Conclude(run, result);
  WW_ASSIGN(const auto best, run.services.trajectory.FindCandidate(run.id, result.best_hash));
  WW_ASSIGN(RefineResult out, Conclude(run, result, best ? best->text : std::string()));
  WW_ASSIGN(const memory::TrajectoryView view, run.services.trajectory.View(run.id));
  for (const memory::StepView& step : view.steps) {
    if (!step.outcome || !step.outcome->verdict) continue;
    if (step.record.kind == memory::StepKind::kBaseline) out.baseline.original = *step.outcome->verdict;
    const auto* measured = std::get_if<core::Measured>(&*step.outcome->verdict);
    const bool last = step.record.kind == memory::StepKind::kAccept && step.record.round == memory::kFinalRound;
    if (!last || !step.outcome->accepted || !measured) continue;
    out.accepted = *measured;
    out.roofline_pct_before = RooflineIn(step.outcome->before);
    out.roofline_pct_after = RooflineIn(step.outcome->after);
  }
  return out;
}

}  // namespace warpwright::search
