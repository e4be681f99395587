// Times of an entry for nightly runs: of one revision, and of two side by side. Both are the repository's own code,
// which is not verified here but still runs in a worker process.
//
// On a GPU everything goes through Evaluator::Time (core/timing.h has the protocol): two revisions in pairs, look by
// look until their mean is decided, and if the current one is slower, once more in a fresh process with other inputs;
// one revision is paired with itself. On the simulator times are modelled: one run of each, without any spread,
// identical every night.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/chip.h"
#include "core/device_name.h"
#include "core/evaluator.h"
#include "nights/regression.h"

namespace warpwright::nights {

// How times are obtained: part of the history's key. Changes whenever times would no longer be comparable.
inline constexpr int kTimingProtocol = 1;

struct NightTimerOptions {
  std::string device;
  std::filesystem::path tree;      // where the manifest's init files are
  std::optional<core::Chip> chip;  // of a real device: its nominal clock
  double threshold = 1.03;
  uint64_t sample_instructions = 20'000'000;  // as the judge measures
  uint64_t max_case_bytes = 1ull << 30;       // larger cases are skipped on the simulator
  std::optional<uint64_t> secret_seed;        // for tests
  std::function<void()> fresh_worker;
};

// Of one case in one run.
struct NightTime {
  std::string name;
  double weight = 1;
  double median_us = 0, log_mean = 0, log_error = 0, mhz = 0;
  int samples = 0, discarded = 0;
};
struct NotRunnable {
  std::string reason;
  bool reference = false;  // the reference is what cannot be run
};
using NightTimes = std::vector<NightTime>;
struct NightComparison {
  PairedResult paired;
  double alpha = 0;  // of the look at which it ended
  CodeJudgement judgement;
  NightTimes present, reference;
};

class NightTimer {
 public:
  NightTimer(core::Evaluator& evaluator, NightTimerOptions options)
      : evaluator_(evaluator), options_(std::move(options)) {}

  bool modelled() const { return core::IsSimulated(options_.device); }
  Result<std::variant<NightTimes, NotRunnable>> Measure(const core::KernelSpec& spec, const core::SourceRef& source);
  // Both with the current manifest entry: a reference with a different signature is NotRunnable.
  Result<std::variant<NightComparison, NotRunnable>> Compare(const core::KernelSpec& spec,
                                                             const core::SourceRef& reference,
                                                             const core::SourceRef& present);
  int comparisons() const { return comparisons_; }

 private:
  struct CasePairs;
  template <typename T>
  using Outcome = std::variant<T, NotRunnable>;

  std::vector<const core::Case*> CasesOf(const core::KernelSpec& spec) const;
  Result<Outcome<NightTimes>> Model(const core::KernelSpec& spec, const core::SourceRef& source);
  Result<Outcome<NightComparison>> CompareModelled(const core::KernelSpec& spec, const core::SourceRef& reference,
                                                   const core::SourceRef& present);
  Result<Outcome<NightComparison>> ComparePass(const core::KernelSpec& spec, const core::SourceRef& reference,
                                               const core::SourceRef& present);
  Result<std::optional<NotRunnable>> AddBlocks(const core::KernelSpec& spec, const core::SourceRef& reference,
                                               const core::SourceRef& present, CasePairs& pairs, int blocks);
  core::TimingRules Rules() const;
  uint64_t NextSeed();

  core::Evaluator& evaluator_;
  NightTimerOptions options_;
  std::map<std::string, NightTimes> modelled_;  // by root and file: exported trees do not change
  uint64_t passes_ = 0;
  int comparisons_ = 0;
};

}  // namespace warpwright::nights
