// Finds the commit that made an entry slower: a bisection by paired timings over the first-parent commits between the
// reference and the current revision that changed the entry's slice.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "nights/bisect.h"
#include "nights/night.h"
#include "nights/night_timer.h"
#include "repo/repository.h"

namespace warpwright::nights {

// The slice of all code that the entry calls in that tree; empty if the file or the entry does not exist. `headers`:
// the repository's files that it includes.
struct EntrySlice {
  std::string hash;
  std::vector<std::string> headers;
};
Result<EntrySlice> SliceOf(const std::filesystem::path& tree, const core::KernelSpec& spec, core::Evaluator& evaluator);

// The commits after `from` up to `to`, oldest first, through first parents. nullopt: `from` is not among those of `to`,
// or it is more than `most` commits away.
Result<std::optional<std::vector<std::string>>> FirstParents(const repo::Repository& repository,
                                                             const std::string& from, const std::string& to, int most);

struct BisectionContext {
  const repo::Repository& repository;
  core::Evaluator& evaluator;
  NightTimer& timer;
  std::function<Result<std::filesystem::path>(const std::string& commit)> tree;  // its sources
  std::function<void(const std::string&)> progress;                              // may be empty
};
// `whole`: the timing of the current revision against the reference.
Result<FirstBadCommit> FindFirstBadCommit(const BisectionContext& search, const core::KernelSpec& spec,
                                          const ReferenceRevision& reference, const ReferenceRevision& tonight,
                                          const CodeJudgement& whole);

}  // namespace warpwright::nights
