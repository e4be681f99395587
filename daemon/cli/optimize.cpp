// optimize: entries that changed -> judge -> refine -> branch.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "cli/changed_entries.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/judging.h"
#include "cli/progress.h"
#include "cli/publish_pull_request.h"
#include "cli/version.h"
#include "report/diff_summary.h"
#include "report/explain.h"
#include "search/refine.h"
#include "nights/night_timer.h"

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
  SaidResult said;                         // where it is to be published or reported
  bool unsaid = false;                     // publishing it failed
  double regression = 0;                   // times slower than before the change, where that was asked and is so
};

class Optimization {
 public:
  Optimization(const OptimizeOptions& options, Session& session, WorkflowCommands& commands)
      : options_(options), session_(session), commands_(commands), progress_(options.common.quiet) {}

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

    KeepShard();
    if (options_.publication.dry_run == "detect") return Detected();
    if (!options_.changed_since.empty() && options_.publication.fail_on == "regression") WW_TRY(FindRegressions(trusted));
    if (!manifest_.kernels.empty()) WW_TRY(OpenPublisher());

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
        failed.said.summary.explanation = {spec.name, spec.file, spec.entry, options_.common.device, session_.chip().name, !session_.gpu(), "error", failed.message};
        outcomes.push_back(std::move(failed));
      }
      if (const auto slower = regressions_.find(spec.name); slower != regressions_.end()) outcomes.back().regression = slower->second;
      Say(spec, outcomes.back());
      progress_.Line(fmt::format("{}: {}{}", spec.name, outcomes.back().outcome,
                                 outcomes.back().outcome == "improved" ? fmt::format(", {:.2f}x", outcomes.back().gain) : ": " + outcomes.back().message));
    }
    return outcomes;
  }
  fs::path trajectory_file() const { return session_.state() / "trajectory.sqlite"; }

 private:
  bool MakesBranches() const { return options_.publish != "none" && options_.publication.dry_run != "optimize"; }

  void KeepShard() {
    std::vector<std::string> names;
    for (const auto& spec : manifest_.kernels) names.push_back(spec.name);
    const std::vector<std::string> kept = KernelsOfShard(options_.publication.shard, names);
    std::erase_if(manifest_.kernels, [&](const KernelSpec& spec) { return std::find(kept.begin(), kept.end(), spec.name) == kept.end(); });
  }

  // What would be optimized, and no more.
  std::vector<KernelOutcome> Detected() const {
    std::vector<KernelOutcome> outcomes;
    for (const auto& spec : manifest_.kernels) {
      KernelOutcome outcome;
      outcome.name = spec.name;
      outcome.outcome = "detected";
      outcome.message = spec.file + " " + spec.entry;
      outcomes.push_back(std::move(outcome));
    }
    return outcomes;
  }

  // Entries that the change since `changed_since` made slower: both revisions timed in pairs, as in the nights.
  Status FindRegressions(WorkerEvaluator& worker) {
    WW_ASSIGN(const std::string before, session_.repository().Resolve(options_.changed_since));
    WW_ASSIGN(const fs::path old_tree, session_.ExportTree(before));
    NightTimer timer(worker, PairTiming(session_, manifest_, tree_, worker));
    for (const auto& spec : manifest_.kernels) {
      std::error_code error;
      if (!fs::exists(old_tree / spec.file, error)) continue;  // new
      progress_.Step(spec.name + ": timing it against " + options_.changed_since);
      WW_ASSIGN(const SourceRef reference, Session::Source(old_tree, spec.file));
      WW_ASSIGN(const SourceRef present, Session::Source(tree_, spec.file));
      WW_ASSIGN(const auto timed, timer.Compare(spec, reference, present));
      const auto* comparison = std::get_if<NightComparison>(&timed);
      if (comparison == nullptr || comparison->judgement.decision != CodeDecision::kSlower) continue;
      regressions_[spec.name] = std::exp(comparison->judgement.log_ratio);
      progress_.Line(fmt::format("{}: {:.2f} times slower than in {}", spec.name, regressions_[spec.name], options_.changed_since));
    }
    progress_.Finish();
    return {};
  }

  // Credentials, remote and forge are tried before any time is spent.
  Status OpenPublisher() {
    const PublicationOptions& publication = options_.publication;
    const bool remote = options_.publish == "pull-request" || (options_.publish == "branch" && !(publication.remote.empty() && publication.repository.empty()));
    if (!remote || !publication.dry_run.empty()) return {};
    const PublishTo to = options_.publish == "branch" ? PublishTo::kBranch : PublishTo::kPullRequest;
    WW_ASSIGN(publisher_, ResultPublisher::Open(publication, to, session_, author_, commands_));
    return {};
  }

  // One kernel whose result cannot be said does not take the others with it.
  void Say(const KernelSpec& spec, KernelOutcome& outcome) {
    SaidResult& said = outcome.said;
    said.kernel = spec.name;
    said.file = spec.file;
    said.base_commit = commit_;
    said.branch = outcome.branch;
    said.commit = outcome.commit;
    said.gain = outcome.gain;
    said.policy = manifest_.pull_requests;
    if (!publisher_) return;
    progress_.Step(spec.name + ": publishing");
    const Status done = publisher_->Publish(said);
    progress_.Finish();
    if (done) return;
    outcome.unsaid = true;
    said.message = done.error().Format();
  }

  Explanation MakeExplanation(const KernelSpec& spec, const TrajectoryView& view, const std::string& original, const std::string& result) const {
    ExplainContext context;
    context.file = spec.file;
    context.entry = spec.entry;
    context.chip = session_.chip();
    context.base_commit = commit_;
    context.version = kVersion;
    context.toolchain = toolchain_;
    context.allow = spec.allow;
    context.tolerance = spec.tolerance;
    context.original_text = original;
    context.result_text = result;
    return Explain(view, context);
  }

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
    const RefineServices services{*judge, candidates, skills_, experience, trajectory, clock, [&] { candidates.Restart(); }, [&](const std::string& text) { progress_.Step(text); },
                                   [&](const SourceRef& winner, const Measured& measured) { return LookAtWinner(session_, spec, winner, measured); },
                                   [&](const std::string& text) { progress_.Line(text); }};
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
    WW_ASSIGN(const TrajectoryView view, trajectory.View(refined.task));
    const bool improved = outcome.outcome == "improved";
    KernelSummary& summary = outcome.said.summary;
    summary.explanation = MakeExplanation(spec, view, original.text, improved ? refined.text : std::string());
    if (session_.gpu()) {
      summary.provenance.device_uuid = session_.gpu()->uuid;
      summary.provenance.driver = fmt::format("CUDA {}.{}", session_.gpu()->driver_version / 1000, session_.gpu()->driver_version % 1000 / 10);
      summary.provenance.gpu_minutes = outcome.seconds / 60;
    }
    if (improved && MakesBranches()) WW_TRY(MakeBranch(spec, refined, outcome));
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

  Status MakeBranch(const KernelSpec& spec, const RefineResult& refined, KernelOutcome& outcome) {
    BranchCommit request{"warpwright/" + spec.name, commit_, spec.file, refined.text, RenderCommitMessage(outcome.said.summary.explanation), author_};
    WW_ASSIGN(const PublishedBranch published, session_.repository().Publish(request));
    outcome.branch = published.branch;
    outcome.commit = published.commit;
    Provenance& provenance = outcome.said.summary.provenance;
    provenance.branch = published.branch;
    provenance.base_branch = options_.publication.base_branch;
    provenance.candidate_commit = published.commit;
    WW_ASSIGN(const std::string diff, session_.repository().Diff(commit_, published.commit, spec.file));
    AddDiff(diff, provenance);
    return {};
  }

  const OptimizeOptions& options_;
  Session& session_;
  WorkflowCommands& commands_;
  Progress progress_;
  std::unique_ptr<ResultPublisher> publisher_;
  std::map<std::string, double> regressions_;  // times slower, by kernel
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
  j["counters_missing"] = o.said.summary.explanation.counter_notes;
  if (o.regression > 0) j["regression"] = o.regression;
  const SaidResult& said = o.said;
  if (!said.disposition.empty() || o.unsaid) j["publication"] = {{"disposition", o.unsaid ? "error" : said.disposition}, {"message", said.message}};
  if (said.pull_request != 0)
    j["pull_request"] = {{"number", said.pull_request}, {"url", said.summary.pull_request_url}, {"operation", said.summary.pull_request_operation}, {"head_sha", said.head_sha}};
  return j;
}

// As the Action's output `result`.
std::string ResultOf(const std::vector<KernelOutcome>& outcomes) {
  const auto any = [&](const char* outcome) { return std::any_of(outcomes.begin(), outcomes.end(), [&](const KernelOutcome& o) { return o.outcome == outcome; }); };
  if (outcomes.empty() || any("detected")) return "skipped";
  if (std::any_of(outcomes.begin(), outcomes.end(), [](const KernelOutcome& o) { return o.regression > 0; })) return "regression";
  if (any("improved")) return "improved";
  return any("error") ? "error" : "unchanged";
}

int ExitCodeFor(const std::vector<KernelOutcome>& outcomes, const std::string& fail_on) {
  const auto any = [&](auto is) { return std::any_of(outcomes.begin(), outcomes.end(), is); };
  if (any([](const KernelOutcome& o) { return o.outcome == "error" || o.unsaid; })) return kExitEnvironment;
  return fail_on != "never" && any([](const KernelOutcome& o) { return o.outcome == "refused" || o.regression > 0; }) ? kExitUnverified : kExitDone;
}

}  // namespace

Result<int> RunOptimize(const OptimizeOptions& options) {
  WW_TRY(CheckPublication(options.publication, options.publish));
  // In a step of GitHub Actions, what compilers and kernels say must not be taken for a command.
  const char* actions = std::getenv("GITHUB_ACTIONS");
  WorkflowCommands commands(actions != nullptr && std::string_view(actions) == "true" && !options.common.json);
  commands.Stop();
  WW_ASSIGN(Session session, Session::Open(options.common));
  Optimization optimization(options, session, commands);
  WW_ASSIGN(const auto outcomes, optimization.Run());

  json kernels = json::array();
  for (const auto& outcome : outcomes) kernels.push_back(ToJson(outcome, options.common.device));
  const auto dump = [](const json& value, int indent) { return value.dump(indent, ' ', false, json::error_handler_t::replace); };
  const std::string report = dump({{"device", options.common.device}, {"kernels", kernels}}, 2);
  if (options.common.json) {
    std::puts(report.c_str());
  } else {
    for (const auto& o : outcomes)
      fmt::print("{:20} {:10} {:>8}  {:3} rounds {:4} evaluations {:7.1f} s  {}\n", o.name, o.outcome, o.outcome == "improved" ? FormatGain(o.gain) : "", o.rounds, o.evaluations,
                 o.seconds, o.said.message.empty() ? (o.branch.empty() ? Printable(o.message) : o.branch) : Printable(o.said.message));
    if (!outcomes.empty()) fmt::print("{}\n", session.gpu() ? "Gains were measured on " + session.chip().name + "." : "Gains are modelled on " + session.chip().name + " (simulated).");
  }
  if (options.publication.Reports()) {
    std::vector<SaidResult> said;
    for (const auto& outcome : outcomes) said.push_back(outcome.said);
    WW_TRY(WriteReports(options.publication, said, {report, dump(kernels, -1), optimization.trajectory_file(), ResultOf(outcomes)}, commands));
  }
  return ExitCodeFor(outcomes, options.publication.fail_on);
}

}  // namespace warpwright
