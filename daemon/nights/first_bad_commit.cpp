#include "nights/first_bad_commit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "judge/source_file.h"

namespace warpwright::nights {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxCommits = 2000;   // inspected
constexpr size_t kMaxSlices = 300;  // whose slice is computed

struct Version {
  std::string commit, slice;
};

// The commits that may have changed the entry: those that touched its file or a header that it includes or used to
// include.
Result<std::vector<std::string>> Relevant(const BisectionContext& search, const core::KernelSpec& spec,
                                          const std::string& from, const std::vector<std::string>& commits,
                                          const std::set<std::string>& files) {
  std::vector<std::string> relevant;
  std::string before = from;
  for (const std::string& commit : commits) {
    WW_ASSIGN(const auto touched, search.repository.TouchedPaths(before, commit));
    const bool any = std::any_of(touched.begin(), touched.end(),
                                 [&](const std::string& path) { return path == spec.file || files.contains(path); });
    if (any) relevant.push_back(commit);
    before = commit;
  }
  return relevant;
}

// The reference, each change of the slice, and the current revision.
Result<std::vector<Version>> Versions(const BisectionContext& search, const core::KernelSpec& spec,
                                      const ReferenceRevision& reference, const ReferenceRevision& tonight,
                                      const std::vector<std::string>& commits) {
  WW_ASSIGN(const fs::path old_tree, search.tree(reference.commit));
  WW_ASSIGN(const EntrySlice then, SliceOf(old_tree, spec, search.evaluator));
  WW_ASSIGN(const fs::path new_tree, search.tree(tonight.commit));
  WW_ASSIGN(const EntrySlice now, SliceOf(new_tree, spec, search.evaluator));
  std::set<std::string> files(then.headers.begin(), then.headers.end());
  files.insert(now.headers.begin(), now.headers.end());
  WW_ASSIGN(std::vector<std::string> relevant, Relevant(search, spec, reference.commit, commits, files));
  // With more commits than are worth slicing, only every n-th: the result is then a range.
  if (relevant.size() > kMaxSlices) {
    std::vector<std::string> some;
    for (size_t i = 0; i < kMaxSlices; ++i) some.push_back(relevant[(i + 1) * relevant.size() / kMaxSlices - 1]);
    relevant = std::move(some);
  }
  std::vector<Version> versions = {{reference.commit, reference.slice}};
  for (const std::string& commit : relevant) {
    WW_ASSIGN(const fs::path tree, search.tree(commit));
    auto slice = SliceOf(tree, spec, search.evaluator);
    if (!slice) return Fail(slice.error());
    if (slice->hash != versions.back().slice) versions.push_back({commit, slice->hash});
  }
  if (versions.back().slice != tonight.slice) versions.push_back({tonight.commit, tonight.slice});
  return versions;
}

}  // namespace

Result<EntrySlice> SliceOf(const fs::path& tree, const core::KernelSpec& spec, core::Evaluator& evaluator) {
  std::error_code error;
  if (!fs::exists(tree / spec.file, error)) return EntrySlice{};
  WW_ASSIGN(const core::SourceRef source, judge::ReadSource(tree, spec));
  WW_ASSIGN(const core::Inspection inspection, evaluator.Inspect(source));
  for (const auto& entry : inspection.entries)
    if (entry.name == spec.entry.substr(0, spec.entry.find('<')))
      return EntrySlice{entry.slice_hash, inspection.headers};
  return EntrySlice{{}, inspection.headers};
}

Result<std::optional<std::vector<std::string>>> FirstParents(const repo::Repository& repository,
                                                             const std::string& from, const std::string& to, int most) {
  std::vector<std::string> commits;
  for (std::string at = to; at != from;) {
    commits.push_back(at);
    if (static_cast<int>(commits.size()) > most) return std::optional<std::vector<std::string>>();
    const auto parent = repository.Resolve(at + "^");
    if (!parent)
      return std::optional<std::vector<std::string>>();  // the root commit, or the boundary of a shallow clone
    at = *parent;
  }
  std::reverse(commits.begin(), commits.end());
  return std::optional(std::move(commits));
}

Result<FirstBadCommit> FindFirstBadCommit(const BisectionContext& search, const core::KernelSpec& spec,
                                          const ReferenceRevision& reference, const ReferenceRevision& tonight,
                                          const CodeJudgement& whole) {
  const auto progress = [&](const std::string& text) {
    if (search.progress) search.progress(text);
  };
  FirstBadCommit facts;
  WW_ASSIGN(const auto commits, FirstParents(search.repository, reference.commit, tonight.commit, kMaxCommits));
  if (!commits) {
    facts.note = fmt::format("the first bad commit was not searched for: {} is not among the first parents of {}",
                             reference.commit.substr(0, 12), tonight.commit.substr(0, 12));
    return facts;
  }
  progress(fmt::format("{}: searching for the first bad commit among {}", spec.name, commits->size()));
  WW_ASSIGN(const std::vector<Version> versions, Versions(search, spec, reference, tonight, *commits));
  const auto probe = [&](size_t older, size_t newer) -> Result<std::optional<PairProbe>> {
    progress(fmt::format("{}: timing {} against {}", spec.name, versions[newer].commit.substr(0, 12),
                         versions[older].commit.substr(0, 12)));
    core::SourceRef sources[2];
    for (const size_t side : {0, 1}) {
      const Version& version = versions[side == 0 ? older : newer];
      if (version.slice.empty()) return std::optional<PairProbe>();  // the entry does not exist
      WW_ASSIGN(const fs::path tree, search.tree(version.commit));
      WW_ASSIGN(sources[side], judge::ReadSource(tree, spec));
    }
    WW_ASSIGN(const auto compared, search.timer.Compare(spec, sources[0], sources[1]));
    const auto* comparison = std::get_if<NightComparison>(&compared);
    if (comparison == nullptr) return std::optional<PairProbe>();
    PairProbe found{comparison->judgement.log_ratio, comparison->judgement.lower, comparison->judgement.upper,
                    comparison->judgement.decision == CodeDecision::kSlower};
    // If only one case became slower, the search follows that case.
    if (!whole.worst_case.empty())
      for (const PairedCase& c : comparison->paired.cases)
        if (c.name == whole.worst_case) {
          found.log_ratio = -c.summary.log_ratio;
          found.lower = -c.summary.upper;
          found.upper = -c.summary.lower;
        }
    return std::optional(found);
  };
  WW_ASSIGN(const BisectResult result,
            Bisect(versions.size(), {whole.log_ratio, whole.lower, whole.upper, true}, probe));
  const std::string& good = versions[result.last_good].commit;
  facts.commit = versions[result.first_bad].commit;
  facts.confirmed = result.confirmed && result.exact;
  facts.log_ratio = result.step.log_ratio;
  facts.lower = result.step.lower;
  facts.upper = result.step.upper;
  WW_ASSIGN(facts.subject, search.repository.Subject(facts.commit));
  if (!result.exact) facts.note = fmt::format("or one after {} that could not be timed", good.substr(0, 12));
  else if (!result.confirmed) facts.note = "whose own effect is within the noise: several commits share the loss";
  return facts;
}

}  // namespace warpwright::nights
