#include "app/nightly.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "judge/source_file.h"
#include "memory/experience.h"
#include "nights/first_bad_commit.h"
#include "nights/history_page.h"

namespace warpwright::app {
namespace {

namespace fs = std::filesystem;

class NightRun {
 public:
  NightRun(Workspace& workspace, const NightRequest& request, const NightServices& services)
      : workspace_(workspace), request_(request), services_(services), progress_(services.progress) {}

  Result<RepositoryNight> Run() {
    RepositoryNight night;
    WW_ASSIGN(commit_, workspace_.repository().Resolve(request_.revision));
    night.commit = commit_;
    WW_ASSIGN(manifest_, workspace_.ManifestAt(commit_));
    if (!manifest_.nightly.enabled) return night;
    WW_ASSIGN(history_, services_.history(manifest_));
    WW_ASSIGN(tree_, workspace_.ExportTree(commit_));
    WW_ASSIGN(key_, MakeKey());
    night.key = key_;
    night.entries = TimeEntries();
    for (const std::string& commit : exported_) workspace_.RemoveTree(commit);
    WW_TRY(Append(night.entries));
    night.history_tip = history_->Tip();
    if (!request_.pages.empty()) WW_TRY(DrawPages());
    return night;
  }

 private:
  Result<nights::HistoryKey> MakeKey() const {
    const TargetDevice& device = workspace_.device();
    nights::HistoryKey key;
    WW_ASSIGN(key.toolkit, services_.toolchain());
    key.chip = device.chip.name;
    if (!device.gpu) {
      key.device = device.name;
      key.protocol = fmt::format("model-{} {}", nights::kTimingProtocol, request_.version);
      return key;
    }
    key.device = device.gpu->uuid;
    key.protocol = fmt::format("paired-{}", nights::kTimingProtocol);
    key.driver = services_.driver_release();
    if (key.driver.empty()) key.driver = DriverText(*device.gpu);
    return key;
  }

  std::vector<EntryNight> TimeEntries() {
    nights::NightTimer timer(services_.worker.evaluator,
                             PairTiming(workspace_.device(), manifest_, tree_, services_.worker.restart));
    std::vector<EntryNight> entries;
    for (const core::KernelSpec& spec : manifest_.kernels) {
      EntryNight entry;
      entry.kernel = spec.name;
      if (const Status done = TimeEntry(spec, timer, entry); !done) entry.error = done.error().Format();
      progress_.finish();
      const nights::NightVerdict& verdict = entry.outcome.verdict;
      progress_.line(
          fmt::format("{}: {}", spec.name,
                      entry.error.empty() ? fmt::format("{}: {}", Name(verdict.state), verdict.message) : entry.error));
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  Status Append(const std::vector<EntryNight>& entries) {
    std::map<std::string, std::vector<nights::HistoryLine>> lines;
    for (const EntryNight& entry : entries)
      if (entry.error.empty()) lines[entry.kernel] = entry.outcome.Lines();
    return history_->Append(lines, request_.time);
  }

  // The sources of a commit; those that only a bisection needed are removed at the end.
  Result<fs::path> Tree(const std::string& commit) {
    if (!workspace_.HasTree(commit)) exported_.push_back(commit);
    return workspace_.ExportTree(commit);
  }

  Status TimeEntry(const core::KernelSpec& spec, nights::NightTimer& timer, EntryNight& entry) {
    progress_.step("timing " + spec.name);
    WW_ASSIGN(const nights::History history, history_->Read(spec.name));
    entry.warnings = history.warnings;
    nights::NightInput input;
    input.time = request_.time;
    input.kernel = spec.name;
    input.key = key_;
    input.commit = commit_;
    input.threshold = manifest_.nightly.threshold;
    input.modelled = timer.modelled();
    WW_ASSIGN(const nights::EntrySlice slice, nights::SliceOf(tree_, spec, services_.worker.evaluator));
    input.slice = slice.hash;
    const int before = timer.comparisons();
    WW_TRY(Time(spec, history, timer, input));
    entry.outcome = nights::DecideNight(history, input);
    if (entry.outcome.needs_bisection) AddFirstBadCommit(spec, history, input, timer, entry.outcome);
    entry.present = std::move(input.present);
    entry.reference = std::move(input.reference_times);
    entry.timings = timer.comparisons() - before;
    return {};
  }

  void AddFirstBadCommit(const core::KernelSpec& spec, const nights::History& history, const nights::NightInput& input,
                         nights::NightTimer& timer, nights::NightOutcome& outcome) {
    const nights::BisectionContext search{.repository = workspace_.repository(),
                                          .evaluator = services_.worker.evaluator,
                                          .timer = timer,
                                          .tree = [&](const std::string& commit) { return Tree(commit); },
                                          .progress = progress_.step};
    auto first_bad = nights::FindFirstBadCommit(search, spec, *input.reference, {commit_, input.slice}, *input.code);
    if (!first_bad) {  // the regression is known nevertheless
      outcome.notes.push_back("the search for the commit failed: " + first_bad.error().Format());
      first_bad = nights::FirstBadCommit{};
      first_bad->note = "the commit was not found";
    }
    nights::AddCodeFinding(history, input, *first_bad, outcome);
  }

  // The current revision, paired with the reference if the code differs.
  Status Time(const core::KernelSpec& spec, const nights::History& history, nights::NightTimer& timer,
              nights::NightInput& input) {
    if (input.slice.empty()) {
      input.failure = fmt::format("{} has no entry {}", spec.file, spec.entry);
      return {};
    }
    WW_ASSIGN(const core::SourceRef present, judge::ReadSource(tree_, spec));
    const auto anchor = nights::ReferenceRevisionOf(history, key_);
    if (anchor && anchor->slice != input.slice) {
      WW_ASSIGN(const bool timed, Compare(spec, *anchor, present, timer, input));
      if (timed) return {};
    }
    WW_ASSIGN(auto measured, timer.Measure(spec, present));
    if (auto* times = std::get_if<nights::NightTimes>(&measured)) input.present = std::move(*times);
    else input.failure = std::get<nights::NotRunnable>(measured).reason;
    return {};
  }

  // False: the reference cannot be timed, and the current revision must be timed alone.
  Result<bool> Compare(const core::KernelSpec& spec, const nights::ReferenceRevision& anchor,
                       const core::SourceRef& present, nights::NightTimer& timer, nights::NightInput& input) {
    auto tree = workspace_.repository().Resolve(anchor.commit)
                    ? Tree(anchor.commit)
                    : Result<fs::path>(Fail(ErrorCode::kIo, "its commit is not in this repository"));
    const auto then = tree ? nights::SliceOf(*tree, spec, services_.worker.evaluator)
                           : Result<nights::EntrySlice>(Fail(tree.error()));
    if (!then || then->hash.empty()) {
      input.reference_error = then ? "the entry does not exist in it" : then.error().message;
      return false;
    }
    WW_ASSIGN(const core::SourceRef reference, judge::ReadSource(*tree, spec));
    WW_ASSIGN(auto compared, timer.Compare(spec, reference, present));
    if (auto* comparison = std::get_if<nights::NightComparison>(&compared)) {
      input.present = std::move(comparison->present);
      input.reference = anchor;
      input.reference_times = std::move(comparison->reference);
      input.code = comparison->judgement;
      return true;
    }
    const nights::NotRunnable& failed = std::get<nights::NotRunnable>(compared);
    (failed.reference ? input.reference_error : input.failure) = failed.reason;
    return !failed.reference;
  }

  Status DrawPages() {
    std::vector<nights::EntryHistory> entries;
    for (const core::KernelSpec& spec : manifest_.kernels) {
      WW_ASSIGN(nights::History history, history_->Read(spec.name));
      entries.push_back({spec.name, spec.file, std::move(history)});
    }
    return nights::WriteHistoryPages(entries, request_.pages);
  }

  Workspace& workspace_;
  const NightRequest& request_;
  const NightServices& services_;
  const ProgressCallbacks& progress_;
  std::string commit_;
  core::Manifest manifest_;
  nights::HistoryKey key_;
  fs::path tree_;
  std::unique_ptr<nights::HistoryStore> history_;
  std::vector<std::string> exported_;  // commits
};

Status MergeExperience(const Workspace& workspace, const std::vector<fs::path>& stores, RepositoryNight& night) {
  const fs::path own = workspace.experience_file();
  std::vector<fs::path> inputs = stores;
  std::error_code error;
  if (fs::exists(own, error)) inputs.insert(inputs.begin(), own);
  WW_ASSIGN(memory::StoreContent content, memory::MergeStores(inputs, own));
  night.experiences = content.experiences.size();
  night.merge_warnings = std::move(content.warnings);
  return {};
}

}  // namespace

std::vector<nights::Finding> RepositoryNight::Reported() const {
  std::vector<nights::Finding> reported;
  for (const EntryNight& entry : entries)
    reported.insert(reported.end(), entry.outcome.reported.begin(), entry.outcome.reported.end());
  return reported;
}

size_t RepositoryNight::Errors() const {
  return static_cast<size_t>(
      std::count_if(entries.begin(), entries.end(), [](const EntryNight& e) { return !e.error.empty(); }));
}

Result<RepositoryNight> RunNight(Workspace& workspace, const NightRequest& request, const NightServices& services) {
  WW_ASSIGN(RepositoryNight night, NightRun(workspace, request, services).Run());
  if (!request.merge.empty()) WW_TRY(MergeExperience(workspace, request.merge, night));
  return night;
}

}  // namespace warpwright::app
