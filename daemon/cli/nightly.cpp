#include "cli/nightly.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/judging.h"
#include "cli/progress.h"
#include "cli/version.h"
#include "nights/culprit.h"
#include "nights/history_page.h"
#include "nights/history_store.h"
#include "nights/night.h"
#include "worker/machine_json.h"

namespace warpwright {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct EntryNight {
  std::string kernel;
  NightOutcome outcome;
  std::string error;             // ours: nothing is known of the entry
  std::vector<std::string> warnings;
  NightTimes present, reference;
  int timings = 0;               // pairs of revisions that were timed
};

class Nightly {
 public:
  Nightly(const NightlyOptions& options, Session& session)
      : options_(options), session_(session), progress_(options.common.quiet), time_(FormatUtc(SystemClock().Now())) {}

  Result<std::vector<EntryNight>> Run() {
    WW_ASSIGN(commit_, session_.repository().Resolve(options_.revision));
    WW_ASSIGN(manifest_, session_.ManifestAt(commit_));
    if (!manifest_.nightly.enabled) return std::vector<EntryNight>();
    WW_TRY(OpenHistory());
    WW_ASSIGN(tree_, session_.ExportTree(commit_));
    WW_TRY(MakeKey());
    WorkerEvaluator worker = session_.MakeWorker();
    NightTimer timer(worker, PairTiming(session_, manifest_, tree_, worker));

    std::vector<EntryNight> nights;
    std::map<std::string, std::vector<HistoryLine>> lines;
    for (const KernelSpec& spec : manifest_.kernels) {
      EntryNight night;
      night.kernel = spec.name;
      // One entry that we fail at does not take the others with it.
      if (const Status done = One(spec, worker, timer, night); !done) night.error = done.error().Format();
      else lines[spec.name] = night.outcome.Lines();
      progress_.Finish();
      progress_.Line(fmt::format("{}: {}", spec.name, Printable(night.error.empty() ? night.outcome.verdict.state + ": " + night.outcome.verdict.message : night.error)));
      nights.push_back(std::move(night));
    }
    RemoveTrees();
    WW_TRY(store_->Append(lines, time_));
    if (!options_.pages.empty()) WW_TRY(DrawPages());
    return nights;
  }

  const std::string& commit() const { return commit_; }
  const std::string& time() const { return time_; }
  const HistoryKey& key() const { return key_; }
  const Manifest& manifest() const { return manifest_; }
  std::string branch() const { return options_.history.empty() ? branch_ : ""; }
  std::string tip() const { return store_ ? store_->Tip() : ""; }

 private:
  Status OpenHistory() {
    if (!options_.history.empty()) {
      store_ = std::make_unique<DirectoryHistory>(options_.history);
      return {};
    }
    branch_ = options_.history_branch.empty() ? manifest_.nightly.branch : options_.history_branch;
    Signature author;
    if (options_.author.empty()) {
      WW_ASSIGN(author, ConfiguredAuthor(session_.repository()));
    } else {
      WW_ASSIGN(author, Signature::Parse(options_.author));
    }
    store_ = std::make_unique<BranchHistory>(session_.repository(), branch_, author);
    return {};
  }

  Status MakeKey() {
    WW_ASSIGN(key_.toolkit, session_.Toolchain());
    key_.chip = session_.chip().name;
    if (!session_.gpu()) {
      key_.device = options_.common.device;
      key_.protocol = fmt::format("model-{} {}", kTimingProtocol, kVersion);
      return {};
    }
    key_.device = session_.gpu()->uuid;
    key_.protocol = fmt::format("paired-{}", kTimingProtocol);
    key_.driver = DriverRelease();
    return {};
  }

  // "580.159.04" from NVML; where that does not answer, what the driver says itself.
  std::string DriverRelease() const {
    Command command;
    command.argv = WorkerArguments(options_.common);
    command.argv.insert(command.argv.end(), {"--doctor", options_.common.device});
    command.env = WorkerEnvironment();
    command.deadline = std::chrono::seconds(90);
    const auto done = ::warpwright::Run(command);
    Machine machine;
    for (size_t at = 0; done && at < done->out.size();) {
      const size_t end = std::min(done->out.find('\n', at), done->out.size());
      if (done->out[at] == '{') (void)DecodeMachine(std::string_view(done->out).substr(at, end - at), machine);
      at = end + 1;
    }
    if (machine.nvml && !machine.nvml->driver_release.empty()) return machine.nvml->driver_release;
    const int version = session_.gpu()->driver_version;
    return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  }

  // Sources of a commit; those that only a bisection needed are removed at the end.
  Result<fs::path> Tree(const std::string& commit) {
    std::error_code error;
    if (!fs::exists(session_.state() / "trees" / (commit + ".complete"), error)) made_.push_back(commit);
    return session_.ExportTree(commit);
  }
  void RemoveTrees() {
    std::error_code error;
    for (const std::string& commit : made_) {
      fs::remove(session_.state() / "trees" / (commit + ".complete"), error);
      fs::remove_all(session_.state() / "trees" / commit, error);
    }
    made_.clear();
  }

  Status One(const KernelSpec& spec, WorkerEvaluator& worker, NightTimer& timer, EntryNight& night) {
    progress_.Step("timing " + spec.name);
    WW_ASSIGN(const History history, store_->Read(spec.name));
    night.warnings = history.warnings;
    NightInput input;
    input.time = time_;
    input.kernel = spec.name;
    input.key = key_;
    input.commit = commit_;
    input.threshold = manifest_.nightly.threshold;
    input.modelled = timer.modelled();
    WW_ASSIGN(const EntrySlice slice, SliceOf(tree_, spec, worker));
    input.slice = slice.hash;
    const int before = timer.comparisons();
    WW_TRY(Time(spec, history, worker, timer, input));
    night.outcome = DecideNight(history, input);
    if (night.outcome.find_culprit) {
      const CulpritSearch search{session_.repository(), worker, timer, [&](const std::string& commit) { return Tree(commit); },
                                 [&](const std::string& text) { progress_.Step(text); }};
      auto culprit = FindCulprit(search, spec, *input.reference, {commit_, input.slice}, *input.code);
      if (!culprit) {  // the regression is known all the same
        night.outcome.notes.push_back("looking for the commit failed: " + culprit.error().Format());
        culprit = CulpritFacts{};
        culprit->note = "the commit was not found";
      }
      AddCodeFinding(history, input, *culprit, night.outcome);
    }
    night.present = std::move(input.present);
    night.reference = std::move(input.reference_times);
    night.timings = timer.comparisons() - before;
    return {};
  }

  Status Time(const KernelSpec& spec, const History& history, WorkerEvaluator& worker, NightTimer& timer, NightInput& input) {
    if (input.slice.empty()) {
      input.failure = fmt::format("{} has no entry {}", spec.file, spec.entry);
      return {};
    }
    WW_ASSIGN(const SourceRef present, SourceIn(tree_, spec.file));
    const auto anchor = AnchorOf(history, key_);
    if (anchor && anchor->slice != input.slice) {
      auto tree = session_.repository().Resolve(anchor->commit) ? Tree(anchor->commit) : Result<fs::path>(Fail(ErrorCode::kIo, "its commit is not in this repository"));
      const auto then = tree ? SliceOf(*tree, spec, worker) : Result<EntrySlice>(Fail(tree.error()));
      if (!then || then->hash.empty()) {
        input.reference_gone = then ? "the entry is not in it" : then.error().message;
      } else {
        WW_ASSIGN(const SourceRef reference, SourceIn(*tree, spec.file));
        WW_ASSIGN(auto compared, timer.Compare(spec, reference, present));
        if (auto* comparison = std::get_if<NightComparison>(&compared)) {
          input.present = std::move(comparison->present);
          input.reference = anchor;
          input.reference_times = std::move(comparison->reference);
          input.code = comparison->judgement;
          return {};
        }
        const NotRunnable& failed = std::get<NotRunnable>(compared);
        (failed.reference ? input.reference_gone : input.failure) = failed.reason;
        if (!failed.reference) return {};
      }
    }
    WW_ASSIGN(auto measured, timer.Measure(spec, present));
    if (auto* times = std::get_if<NightTimes>(&measured)) input.present = std::move(*times);
    else input.failure = std::get<NotRunnable>(measured).reason;
    return {};
  }

  Status DrawPages() {
    std::vector<EntryHistory> entries;
    for (const KernelSpec& spec : manifest_.kernels) {
      WW_ASSIGN(History history, store_->Read(spec.name));
      entries.push_back({spec.name, spec.file, std::move(history)});
    }
    return WriteHistoryPages(entries, options_.pages);
  }

  const NightlyOptions& options_;
  Session& session_;
  Progress progress_;
  const std::string time_;
  std::string commit_, branch_;
  Manifest manifest_;
  HistoryKey key_;
  fs::path tree_;
  std::unique_ptr<HistoryStore> store_;
  std::vector<std::string> made_;
};

json CasesJson(const EntryNight& night) {
  json cases = json::array();
  for (const NightTime& time : night.present) {
    json row = {{"name", time.name}, {"us", time.median_us}, {"spread", std::expm1(time.log_error)}, {"samples", time.samples}, {"discarded", time.discarded}, {"mhz", time.mhz}};
    for (const NightTime& then : night.reference)
      if (then.name == time.name) row["reference_us"] = then.median_us;
    cases.push_back(std::move(row));
  }
  return cases;
}

json ToJson(const EntryNight& night) {
  const NightVerdict& verdict = night.outcome.verdict;
  if (!night.error.empty()) return {{"name", night.kernel}, {"state", "error"}, {"message", night.error}};
  return {{"name", night.kernel}, {"state", verdict.state}, {"message", verdict.message}, {"finding", verdict.finding}, {"reference", verdict.anchor_commit},
          {"ratio", std::exp(verdict.log_ratio)}, {"ratio_low", std::exp(verdict.lower)}, {"ratio_high", std::exp(verdict.upper)},
          {"cases", CasesJson(night)}, {"notes", night.outcome.notes}, {"warnings", night.warnings}, {"comparisons", night.timings}};
}

json ToJson(const Finding& f) {
  return {{"kernel", f.kernel}, {"id", f.id}, {"state", f.state}, {"cause", f.cause}, {"commit", f.commit}, {"subject", f.subject}, {"from", f.from},
          {"to", f.to}, {"case", f.case_name}, {"ratio", std::exp(f.log_ratio)}, {"ratio_low", std::exp(f.lower)}, {"ratio_high", std::exp(f.upper)},
          {"confirmed", f.confirmed}, {"modelled", f.modelled}, {"message", f.message}, {"optimize", true}};
}

std::vector<Finding> Reported(const std::vector<EntryNight>& nights) {
  std::vector<Finding> reported;
  for (const EntryNight& night : nights) reported.insert(reported.end(), night.outcome.reported.begin(), night.outcome.reported.end());
  return reported;
}

std::string Summary(const std::vector<EntryNight>& nights, const std::vector<Finding>& reported, size_t errors) {
  if (nights.empty()) return "nights are switched off in the manifest";
  std::string text = fmt::format("{} {} timed", nights.size() - errors, nights.size() - errors == 1 ? "entry" : "entries");
  if (errors > 0) text += fmt::format(", {} failed", errors);
  return text + (reported.empty() ? ", no new regression" : fmt::format(", {} became slower", reported.size()));
}

// One object; or lines for people.
void Print(const NightlyOptions& options, const Nightly& nightly, bool modelled, const std::vector<EntryNight>& nights, size_t merged) {
  const std::vector<Finding> reported = Reported(nights);
  const auto errors = static_cast<size_t>(std::count_if(nights.begin(), nights.end(), [](const EntryNight& n) { return !n.error.empty(); }));
  const std::string outcome = !reported.empty() ? "regression" : errors > 0 ? "error" : "checked";
  if (options.common.json) {
    json kernels = json::array(), findings = json::array();
    for (const EntryNight& night : nights) kernels.push_back(ToJson(night));
    for (const Finding& finding : reported) findings.push_back(ToJson(finding));
    const json all = {{"device", options.common.device}, {"chip", nightly.key().chip}, {"driver", nightly.key().driver}, {"toolkit", nightly.key().toolkit},
                      {"modelled", modelled}, {"commit", nightly.commit()}, {"time", nightly.time()}, {"outcome", outcome},
                      {"message", Summary(nights, reported, errors)}, {"branch", nightly.branch()}, {"branch_commit", nightly.tip()},
                      {"kernels", kernels}, {"findings", findings}, {"experiences", merged}};
    std::puts(all.dump(2, ' ', false, json::error_handler_t::replace).c_str());
    return;
  }
  for (const EntryNight& night : nights)
    fmt::print("{:20} {:8} {}\n", Printable(night.kernel), night.error.empty() ? night.outcome.verdict.state : "error",
               Printable(night.error.empty() ? night.outcome.verdict.message : night.error));
  for (const Finding& finding : reported)
    fmt::print("\n{}: regression ({}): {}{}\n", Printable(finding.kernel), finding.cause, Printable(finding.message),
               finding.subject.empty() ? "" : fmt::format("\n  {} {}{}", finding.commit.substr(0, 12), Printable(finding.subject), finding.confirmed ? "" : " (not certain)"));
  for (const EntryNight& night : nights) {
    for (const auto& note : night.outcome.notes) fmt::print("{}: {}\n", Printable(night.kernel), Printable(note));
    for (const auto& warning : night.warnings) fmt::print(stderr, "warpwright: {}\n", Printable(warning));
  }
  fmt::print("\n{}.{}\n", Summary(nights, reported, errors), modelled && !nights.empty() ? " Times are modelled (simulated)." : "");
}

// What became slower, as `warpwright optimize` does it.
Result<int> OptimizeSlower(const NightlyOptions& options, const std::string& commit, const std::vector<Finding>& reported) {
  OptimizeOptions optimize;
  optimize.common = options.common;
  optimize.common.kernels.clear();
  for (const Finding& finding : reported)
    if (std::find(optimize.common.kernels.begin(), optimize.common.kernels.end(), finding.kernel) == optimize.common.kernels.end())
      optimize.common.kernels.push_back(finding.kernel);
  optimize.revision = commit;
  optimize.author = options.author;
  return RunOptimize(optimize);
}

}  // namespace

Result<int> RunNightly(const NightlyOptions& options) {
  if (!options.history.empty() && !options.history_branch.empty())
    return Fail(ErrorCode::kUsage, "--history and --history-branch exclude each other", "keep the history in one place");
  if (options.optimize && options.common.json)
    return Fail(ErrorCode::kUsage, "--optimize does not go with --json", "the kernels are in findings[]: pass them to `warpwright optimize --kernel`");
  WW_ASSIGN(Session session, Session::Open(options.common));
  Nightly nightly(options, session);
  WW_ASSIGN(const auto nights, nightly.Run());
  size_t merged = 0;
  if (!options.merge.empty()) {
    const fs::path own = session.state() / "experience.jsonl";
    std::vector<fs::path> inputs(options.merge.begin(), options.merge.end());
    std::error_code error;
    if (fs::exists(own, error)) inputs.insert(inputs.begin(), own);
    WW_ASSIGN(const StoreContent content, MergeStores(inputs, own));
    for (const auto& warning : content.warnings) fmt::print(stderr, "warpwright: {}\n", Printable(warning));
    merged = content.experiences.size();
  }
  Print(options, nightly, !session.gpu(), nights, merged);
  const std::vector<Finding> reported = Reported(nights);
  int exit_code = kExitDone;
  if (options.optimize && !reported.empty()) {
    WW_ASSIGN(exit_code, OptimizeSlower(options, nightly.commit(), reported));
  }
  const bool failed = std::any_of(nights.begin(), nights.end(), [](const EntryNight& n) { return !n.error.empty(); });
  if (!reported.empty() && options.fail_on == "regression") return kExitUnverified;
  return failed ? kExitEnvironment : exit_code;
}

}  // namespace warpwright
