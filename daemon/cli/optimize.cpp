// optimize: entries that changed -> judge -> refine -> branch.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "cli/changed_entries.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/judging.h"
#include "cli/progress.h"
#include "cli/version.h"
#include "report/explain.h"
#include "search/refine.h"

namespace warpwright {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct CaseOutcome {
  std::string name;
  double original_us = 0, us = 0;
  std::optional<TimingSummary> timing;  // on a real device
};
struct KernelOutcome {
  std::string name, outcome, message, branch, commit;
  double gain = 1, seconds = 0;
  int rounds = 0, evaluations = 0;
  TaskId task = 0;
  std::vector<CaseOutcome> cases;          // where it improved
  double roofline_pct_before = 0, roofline_pct_after = 0;
  std::map<std::string, double> spent;     // seconds by stage, of both workers
};

class Optimization {
 public:
  Optimization(const OptimizeOptions& options, Session& session) : options_(options), session_(session), progress_(options.common.quiet || options.common.json) {}

  Result<std::vector<KernelOutcome>> Run() {
    WW_ASSIGN(commit_, session_.repository().Resolve(options_.revision));
    WW_ASSIGN(manifest_, session_.ManifestAt(commit_));
    WW_ASSIGN(author_, Author());
    WW_ASSIGN(tree_, session_.ExportTree(commit_));
    WW_ASSIGN(toolchain_, session_.Toolchain());
    WW_ASSIGN(skills_, session_.Skills());
    WW_ASSIGN(Trajectory trajectory, session_.OpenTrajectory());
    JsonLinesStore experience = session_.Experiences();
    WorkerEvaluator trusted = session_.MakeWorker(), candidates = session_.MakeWorker();
    if (!options_.changed_since.empty()) WW_TRY(KeepChanged(trusted));

    std::vector<KernelOutcome> outcomes;
    for (const auto& spec : manifest_.kernels) {
      auto outcome = One(spec, trajectory, experience, trusted, candidates);
      progress_.Finish();
      if (outcome) {
        outcomes.push_back(std::move(*outcome));
      } else {
        // One kernel that we fail at does not take the others with it.
        KernelOutcome failed;
        failed.name = spec.name;
        failed.outcome = "error";
        failed.message = outcome.error().Format();
        outcomes.push_back(std::move(failed));
      }
      progress_.Line(fmt::format("{}: {}{}", spec.name, outcomes.back().outcome,
                                 outcomes.back().outcome == "improved" ? fmt::format(", {:.2f}x", outcomes.back().gain) : ": " + outcomes.back().message));
    }
    return outcomes;
  }
  const Manifest& manifest() const { return manifest_; }

 private:
  Result<Signature> Author() const {
    if (!options_.author.empty()) return Signature::Parse(options_.author);
    return ConfiguredAuthor(session_.repository());
  }

  // Drops the kernels that mean the same in the other revision.
  Status KeepChanged(Evaluator& worker) {
    WW_ASSIGN(const std::string before, session_.repository().Resolve(options_.changed_since));
    WW_ASSIGN(const auto changes, CompareEntries(session_, manifest_, {commit_, before, false}, worker));
    std::set<std::string> changed;
    for (const auto& change : changes)
      if (change.changed) changed.insert(change.kernel);
    std::erase_if(manifest_.kernels, [&](const KernelSpec& spec) { return changed.count(spec.name) == 0; });
    progress_.Line(manifest_.kernels.empty() ? "no kernel changed since " + options_.changed_since
                                             : fmt::format("changed since {}: {}", options_.changed_since, fmt::join(changed, ", ")));
    return {};
  }

  Result<KernelOutcome> One(const KernelSpec& spec, Trajectory& trajectory, ExperienceStore& experience, WorkerEvaluator& trusted, WorkerEvaluator& candidates) {
    WW_TRY(session_.repository().Read(commit_, spec.file));  // says it where the file is in a submodule or in Git LFS
    WW_ASSIGN(const SourceRef original, Session::Source(tree_, spec.file));
    RefineTask task{spec, original, manifest_.policy, session_.chip(), options_.common.device, {}, toolchain_, kVersion};
    if (options_.max_rounds > 0) task.policy.max_rounds = options_.max_rounds;
    if (options_.max_minutes > 0) task.policy.max_minutes = options_.max_minutes;
    task.config_digest = Hasher().Add(kVersion).Add(toolchain_).Add(skills_.digest).Add(manifest_.digest).Add(commit_)
                             .Add(fmt::format("{} {}", task.policy.max_rounds, task.policy.min_speedup)).Finish();
    if (options_.again) WW_TRY(Forget(trajectory, {spec.name, Sha256(original.text), task.device, task.config_digest}));

    const auto judge = MakeJudge(session_, spec, original, manifest_, tree_, toolchain_, trusted, [&] { candidates.Restart(); });
    if (!fs::exists(tree_ / ".warpwright/references" / spec.name)) {
      progress_.Step(spec.name + ": recording references from " + commit_.substr(0, 12));
      WW_TRY(judge->Record());
    }
    const SystemClock clock;
    const RefineServices services{*judge, candidates, skills_, experience, trajectory, clock, [&] { candidates.Restart(); }, [&](const std::string& text) { progress_.Step(text); }};
    const auto spent_before = Spent(trusted, candidates);
    WW_ASSIGN(const RefineResult refined, Refine(task, services));

    KernelOutcome outcome;
    for (const auto& [stage, seconds] : Spent(trusted, candidates)) {
      const auto before = spent_before.find(stage);
      outcome.spent[stage] = seconds - (before == spent_before.end() ? 0 : before->second);
    }
    if (refined.accepted) outcome.cases = CompareCases(refined);
    outcome.roofline_pct_before = refined.roofline_pct_before;
    outcome.roofline_pct_after = refined.roofline_pct_after;
    outcome.name = spec.name;
    outcome.outcome = refined.result.outcome;
    outcome.message = refined.result.message;
    outcome.gain = refined.result.gain;
    outcome.rounds = refined.rounds;
    outcome.evaluations = refined.evaluations;
    outcome.seconds = refined.seconds;
    outcome.task = refined.task;
    if (outcome.outcome == "improved" && options_.publish == "branch") WW_TRY(Publish(spec, refined, trajectory, outcome));
    return outcome;
  }

  static std::map<std::string, double> Spent(const WorkerEvaluator& trusted, const WorkerEvaluator& candidates) {
    std::map<std::string, double> spent;
    for (const auto* worker : {&trusted, &candidates})
      for (const auto& [stage, seconds] : worker->seconds()) spent[stage] += seconds;
    return spent;
  }

  static std::vector<CaseOutcome> CompareCases(const RefineResult& refined) {
    std::vector<CaseOutcome> cases;
    const auto* original = std::get_if<Measured>(&refined.baseline.original);
    for (const CaseMeasurement& after : refined.accepted->cases) {
      CaseOutcome c{after.case_name, 0, after.time_us, after.timing};
      for (const CaseMeasurement& before : original != nullptr ? original->cases : std::vector<CaseMeasurement>())
        if (before.case_name == after.case_name) c.original_us = after.timing ? after.timing->original_us : before.time_us;
      cases.push_back(std::move(c));
    }
    return cases;
  }

  static Status Forget(Trajectory& trajectory, const TaskKey& key) {
    WW_ASSIGN(const auto tasks, trajectory.Tasks());
    for (const auto& task : tasks)
      if (task.key.kernel == key.kernel && task.key.base_hash == key.base_hash && task.key.device == key.device && task.key.config_digest == key.config_digest)
        WW_TRY(trajectory.DiscardTask(task.id));
    return {};
  }

  Status Publish(const KernelSpec& spec, const RefineResult& refined, Trajectory& trajectory, KernelOutcome& outcome) {
    WW_ASSIGN(const TrajectoryView view, trajectory.View(refined.task));
    const Explanation explanation = Explain(view, {spec.file, spec.entry, session_.chip(), commit_, kVersion, toolchain_});
    BranchCommit request{"warpwright/" + spec.name, commit_, spec.file, refined.text, RenderCommitMessage(explanation), author_};
    WW_ASSIGN(const PublishedBranch published, session_.repository().Publish(request));
    outcome.branch = published.branch;
    outcome.commit = published.commit;
    return {};
  }

  const OptimizeOptions& options_;
  Session& session_;
  Progress progress_;
  std::string commit_, toolchain_;
  Manifest manifest_;
  Signature author_;
  fs::path tree_;
  SkillLibrary skills_;
};

json ToJson(const KernelOutcome& o, const std::string& device) {
  json j = {{"name", o.name}, {"outcome", o.outcome}, {"message", o.message}, {"gain", o.gain}, {"modelled", device.rfind("sim:", 0) == 0}, {"device", device},
            {"rounds", o.rounds}, {"evaluations", o.evaluations}, {"seconds", o.seconds}, {"task", o.task}, {"branch", nullptr}, {"commit", nullptr}};
  j["cases"] = json::array();
  for (const CaseOutcome& c : o.cases) {
    json row = {{"name", c.name}, {"original_us", c.original_us}, {"us", c.us}};
    if (c.timing)
      row.update({{"gain", std::exp(c.timing->log_ratio)}, {"gain_low", std::exp(c.timing->lower)}, {"gain_high", std::exp(c.timing->upper)},
                  {"decision", Name(c.timing->decision)}, {"pairs", c.timing->pairs}, {"discarded", c.timing->discarded},
                  {"hot_original_us", c.timing->hot_original_us}, {"hot_us", c.timing->hot_candidate_us}});
    j["cases"].push_back(std::move(row));
  }
  j["roofline_pct"] = {{"before", o.roofline_pct_before}, {"after", o.roofline_pct_after}};
  j["seconds_by_stage"] = o.spent;
  if (!o.branch.empty()) {
    j["branch"] = o.branch;
    j["commit"] = o.commit;
  }
  return j;
}

}  // namespace

Result<int> RunOptimize(const OptimizeOptions& options) {
  WW_ASSIGN(Session session, Session::Open(options.common));
  Optimization optimization(options, session);
  WW_ASSIGN(const auto outcomes, optimization.Run());
  const bool failed = std::any_of(outcomes.begin(), outcomes.end(), [](const auto& o) { return o.outcome == "error"; });
  const bool refused = std::any_of(outcomes.begin(), outcomes.end(), [](const auto& o) { return o.outcome == "refused"; });
  if (options.common.json) {
    json kernels = json::array();
    for (const auto& outcome : outcomes) kernels.push_back(ToJson(outcome, options.common.device));
    std::puts(json({{"device", options.common.device}, {"kernels", kernels}}).dump(2, ' ', false, json::error_handler_t::replace).c_str());
  } else {
    for (const auto& o : outcomes)
      fmt::print("{:20} {:10} {:>8}  {:3} rounds {:4} evaluations {:7.1f} s  {}\n", o.name, o.outcome, o.outcome == "improved" ? FormatGain(o.gain) : "", o.rounds, o.evaluations,
                 o.seconds, o.branch.empty() ? Printable(o.message) : o.branch);
    if (!outcomes.empty()) fmt::print("{}\n", session.gpu() ? "Gains were measured on " + session.chip().name + "." : "Gains are modelled on " + session.chip().name + " (simulated).");
  }
  return failed ? kExitEnvironment : refused ? kExitUnverified : kExitDone;
}

}  // namespace warpwright
