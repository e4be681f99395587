#include "service/status_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "base/utf8.h"
#include "memory/lineage.h"

namespace warpwright::service {
namespace {

using nlohmann::json;

constexpr size_t kMaxQueued = 100, kMaxDone = 200, kMaxRepositories = 200, kMaxTips = 20, kMaxIgnored = 50,
                 kMaxText = 600;

// Bounded, cut at a character boundary.
std::string Text(std::string_view text, size_t limit = kMaxText) {
  if (text.size() <= limit) return std::string(text);
  return std::string(base::CutAtCharacter(text, limit)) + "…";
}
json NumberOrNull(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
std::string Dump(const json& value) { return base::DumpJson(value) + "\n"; }

json JobJson(const JobSnapshot& job) {
  return {{"id", job.id},
          {"repository", Text(job.repository)},
          {"kernel", Text(job.kernel)},
          {"kind", Name(job.kind)},
          {"state", Name(job.phase)},
          {"outcome", job.outcome ? json(Name(*job.outcome)) : json(nullptr)},
          {"message", Text(job.message)},
          {"device", Text(job.device)},
          {"commit", Text(job.commit)},
          {"branch", Text(job.branch)},
          {"pull_request_url", Text(job.pull_request_url)},
          {"queued", job.queued},
          {"started", job.started},
          {"finished", job.finished},
          {"gain", NumberOrNull(job.gain)},
          {"gain_low", NumberOrNull(job.gain_low)},
          {"gain_high", NumberOrNull(job.gain_high)},
          {"modelled", job.modelled},
          {"rounds", job.rounds},
          {"evaluations", job.evaluations},
          {"attempts", job.attempts},
          {"seconds", NumberOrNull(job.seconds)},
          {"progress", Text(job.progress)},
          {"has_trajectory", job.trajectory_task != 0}};
}

json RepositoryJson(const RepositorySnapshot& repository) {
  json tips = json::object(), ignored = json::array();
  for (const auto& [branch, commit] : repository.tips)
    if (tips.size() < kMaxTips) tips[Text(branch, 200)] = Text(commit, 64);
  for (const auto& kernel : repository.ignored)
    if (ignored.size() < kMaxIgnored) ignored.push_back(Text(kernel, 200));
  return {{"name", Text(repository.name)},
          {"url", Text(repository.url)},
          {"tips", tips},
          {"last_seen", repository.last_seen},
          {"last_error", Text(repository.last_error)},
          {"open_pull_requests", repository.open_pull_requests},
          {"opened_today", repository.opened_today},
          {"max_open", repository.max_open},
          {"max_per_day", repository.max_per_day},
          {"ignored", ignored},
          {"ignored_count", repository.ignored.size()}};
}

json NumbersJson(const std::map<std::string, double>& numbers) {
  json out = json::object();
  for (const auto& [name, value] : numbers) out[Text(name, 100)] = NumberOrNull(value);
  return out;
}

double WeightedTime(const memory::StepOutcome& outcome) {
  const auto* measured = outcome.verdict ? std::get_if<core::Measured>(&*outcome.verdict) : nullptr;
  if (measured == nullptr) return 0;
  double sum = 0;
  for (const core::CaseMeasurement& c : measured->cases) sum += c.weight * c.time_us;
  return sum;
}

// Of a step that asked a language model: what it stored, as llm/transcript.h writes it. What is not there is left out.
json AskedJson(const memory::StepView& step) {
  constexpr size_t kMaxAnswer = 2000, kMaxQuestion = 4000;
  json out = {{"question", Text(step.record.candidate, 12)}, {"about", Text(step.record.reason, kMaxQuestion)}};
  if (!step.outcome) return out;
  const auto stored = base::ParseJson(step.outcome->data);
  const json answer = stored && stored->is_object() ? stored->value("answer", json::object()) : json::object();
  if (!answer.is_object()) return out;
  const json receipt = answer.value("receipt", json::object());
  if (const auto text = answer.find("text"); text != answer.end() && text->is_string())
    out["answer"] = Text(text->get<std::string>(), kMaxAnswer);
  if (!receipt.is_object()) return out;
  if (const auto model = receipt.find("model"); model != receipt.end() && model->is_string())
    out["model"] = Text(model->get<std::string>(), 100);
  if (const auto cost = receipt.find("cost_nanodollars"); cost != receipt.end() && cost->is_number())
    out["dollars"] = NumberOrNull(cost->get<double>() * 1e-9);
  return out;
}

json StepJson(const memory::StepView& step, const memory::Lineage& lineage) {
  json out = {{"id", step.id},
              {"kind", std::string(memory::Name(step.record.kind))},
              {"round", step.record.round},
              {"attempt", step.record.attempt},
              {"method", Text(step.record.method, 100)},
              {"running", !step.outcome.has_value()},
              {"started", step.started},
              {"finished", step.finished}};
  if (step.record.kind == memory::StepKind::kAsk) out["asked"] = AskedJson(step);
  else out["reason"] = Text(step.record.reason);
  if (!step.outcome) return out;
  const memory::StepOutcome& outcome = *step.outcome;
  out["summary"] = Text(outcome.summary);
  out["verdict"] = outcome.verdict ? json(std::string(core::VerdictName(*outcome.verdict))) : json(nullptr);
  out["gain"] = outcome.gain > 0 ? NumberOrNull(outcome.gain) : json(nullptr);
  const double time = outcome.time_after_us > 0 ? outcome.time_after_us : WeightedTime(outcome);
  out["time_us"] = time > 0 ? NumberOrNull(time) : json(nullptr);
  out["accepted"] =
      outcome.accepted || (step.record.kind == memory::StepKind::kEvaluate && lineage.kept.contains(outcome.candidate));
  // The full judge's reason, where the quick one had passed it.
  if (const auto refused = lineage.refused.find(step.record.candidate);
      step.record.kind == memory::StepKind::kEvaluate && refused != lineage.refused.end())
    out["refused"] = Text(refused->second);
  return out;
}

}  // namespace

std::string SnapshotJson(const DaemonSnapshot& snapshot) {
  // Newest first, as given. Of the queue, the longest-waiting jobs are shown, which are the last ones.
  json jobs = json::array();
  size_t queued = 0, done = 0;
  for (const JobSnapshot& job : snapshot.jobs) queued += job.phase == JobPhase::kQueued;
  size_t hidden = queued > kMaxQueued ? queued - kMaxQueued : 0;
  const size_t hidden_queued = hidden;
  for (const JobSnapshot& job : snapshot.jobs) {
    if (job.phase == JobPhase::kQueued && hidden > 0) {
      --hidden;
      continue;
    }
    if (job.phase == JobPhase::kDone && ++done > kMaxDone) continue;
    jobs.push_back(JobJson(job));
  }
  json repositories = json::array();
  for (const RepositorySnapshot& repository : snapshot.repositories)
    if (repositories.size() < kMaxRepositories) repositories.push_back(RepositoryJson(repository));
  json counters = json::object();
  for (const auto& [name, values] : snapshot.counters) counters[Text(name, 100)] = NumbersJson(values);
  json reasons = json::array();
  for (const auto& reason : snapshot.not_ready) reasons.push_back(Text(reason));
  return Dump({{"version", snapshot.version},
               {"started", snapshot.started},
               {"now", snapshot.now},
               {"ready", snapshot.ready},
               {"not_ready", reasons},
               {"queued", queued},
               {"queued_left_out", hidden_queued},
               {"jobs", jobs},
               {"repositories", repositories},
               {"repositories_left_out", snapshot.repositories.size() - repositories.size()},
               {"counters", counters},
               {"gauges", NumbersJson(snapshot.gauges)},
               {"spend", NumbersJson(snapshot.spend)},
               {"experiences", snapshot.experiences}});
}

std::string TrajectoryJson(const memory::TrajectoryView& view) {
  const memory::Lineage lineage = memory::LineageOf(view);
  json steps = json::array();
  const size_t left_out = view.steps.size() > kMaxTrajectorySteps ? view.steps.size() - kMaxTrajectorySteps : 0;
  double original = 0;
  for (const memory::StepView& step : view.steps)
    if (step.record.kind == memory::StepKind::kBaseline && step.outcome && original == 0)
      original = WeightedTime(*step.outcome);
  for (size_t i = left_out; i < view.steps.size(); ++i) steps.push_back(StepJson(view.steps[i], lineage));
  const auto& result = view.task.result;
  return Dump({{"task", view.task.id},
               {"kernel", Text(view.task.key.kernel)},
               {"device", Text(view.task.key.device)},
               {"outcome", result ? json(Name(result->outcome)) : json(nullptr)},
               {"gain", result ? NumberOrNull(result->gain) : json(nullptr)},
               {"original_us", original > 0 ? NumberOrNull(original) : json(nullptr)},
               {"evaluations", view.task.counts.evaluations},
               {"steps", steps},
               {"left_out", left_out}});
}

}  // namespace warpwright::service
