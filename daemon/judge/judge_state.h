// State shared by the parts of the judge: judge.cpp prepares, evaluate.cpp evaluates candidates, record.cpp writes
// references. Private to judge/.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device_name.h"
#include "judge/ahead.h"
#include "judge/judge.h"
#include "judge/one_at_a_time.h"
#include "judge/oracle.h"
#include "judge/reference.h"

namespace warpwright::judge {

inline constexpr const char* kManifestFile = ".warpwright.yml";  // the file named in errors about a case

struct VerifiedCase {
  const core::Case* c = nullptr;
  Trial own;                  // the case's own inputs
  uint64_t instructions = 0;  // of the original, thread level; 0 if the device does not count
  uint64_t bytes = 0;         // of its buffers
  std::optional<RecordedReference> recorded;
  std::optional<SuppliedReference> supplied;
};

// A reference that the user gave, in the form of a trial: inputs and expected outputs.
struct SuppliedTrial {
  std::vector<core::BufferContent> inputs;
  std::vector<size_t> outputs;
  std::vector<OutputLayout> layouts;
  std::vector<OutputReference> references;
};
Result<SuppliedTrial> MakeSuppliedTrial(const core::KernelSpec& spec, const VerifiedCase& verified,
                                        const std::filesystem::path& repository);

// The bytes of all buffers; UINT64_MAX if that overflows.
Result<uint64_t> CaseBytes(const core::KernelSpec& spec, const core::Case& c);

struct Judge::State {
  State(core::KernelSpec spec_in, core::SourceRef original_in, std::string device_in, core::Evaluator& trusted_in,
        JudgeOptions options_in);

  Result<Baseline> Prepare(bool consult_references);
  Result<std::optional<core::Verdict>> MeasureOriginal(const core::Case& c, CaseStatus& status,
                                                       core::Measured& measured);
  Result<std::optional<core::Verdict>> CheckHealth(VerifiedCase& verified, CaseStatus& status);
  Status CheckReferences(VerifiedCase& verified, const TrialReference& answer);
  std::optional<std::string> SelfTestCase(const TrialReference& answer, const TrialReference* other_seed);

  bool on_simulator() const { return core::IsSimulated(device); }
  bool SamplesCase(const core::Case& c) const;  // whether it may be measured by sampled blocks
  core::ExecuteOptions MeasureOptions(const core::Case& c) const;
  double TightenOf(const std::string& output) const;
  // The first output that does not match the reference.
  std::optional<Mismatch> Compare(const TrialReference& reference, const std::vector<base::Bytes>& buffers) const;
  // The same, and what the form says of elements that are in no sample and seem wrong, unless these are more than
  // `most`. `reference` is the trial's.
  static constexpr size_t kMostWrong = 1 << 14;
  std::optional<Mismatch> CompareKnown(const Trial& trial, const TrialReference& reference,
                                       const std::vector<base::Bytes>& buffers, size_t most = kMostWrong);
  // The same with no more known of the original's result than it takes: equal bits need no truth. `reference` becomes
  // what is known then.
  Result<std::optional<Mismatch>> CompareInDepth(const Trial& trial, std::shared_ptr<const TrialReference>& reference,
                                                 const std::vector<base::Bytes>& buffers);
  // rms of Compare's tolerances over rms of the original: the largest among the floating-point outputs.
  double AllowedDifference(const TrialReference& reference) const;
  void Note(std::string note);
  void NoteCounters(const core::Executed& run);  // notes what could not be counted

  // How reproducible the original itself is in further runs under a trial; determined only if a candidate's runs
  // differ. Cached.
  enum class Reproducibility {
    kBitIdentical,
    kWithinTolerance,   // different bits, which the comparison accepts
    kOutsideTolerance,  // different results
    kFaults             // it faults
  };
  Result<Reproducibility> ReproducibilityOfOriginal(const Trial& trial, const TrialReference& reference,
                                                    const core::ExecuteOptions& how);

  const core::KernelSpec spec;
  const core::SourceRef original;
  const std::string device;
  OneAtATime trusted;
  const JudgeOptions options;
  const ToleranceOverrides leniency;
  Oracle oracle;
  std::optional<Baseline> baseline;
  std::vector<VerifiedCase> verified;                         // cheapest first
  std::vector<std::pair<const core::Case*, uint64_t>> large;  // not verified; thread instructions of the original
  std::map<std::string, double> tighten;                      // by output
  std::map<std::string, Reproducibility> repetitions;         // by trial and kind of run
  std::map<std::string, bool> in_place;                       // whether the original computes the same; by trial, pair
  // Which outputs it still has with one buffer for two of them; by trial, pair.
  std::map<std::string, std::vector<size_t>> shared_outputs;
  // What it does without one of the buffers; nullptr: it does not do without.
  std::map<size_t, std::shared_ptr<const core::Executed>> without_buffer;
  // Of each buffer up to the last one that it touches, by case; empty: not known.
  std::map<std::string, std::vector<uint64_t>> used_bytes;
  std::optional<bool> counts_nan;                        // as a number, where results are integers (nan_as_number.h)
  std::optional<std::vector<core::Decision>> decisions;  // of the original's kernels and launcher, in one small case
  std::vector<std::string> notes;
  std::map<std::string, core::Executed> original_runs;  // with counters, by case: once for all
  std::optional<uint64_t> search_secret;  // of quick evaluations, so that they share the original's results
  double best_gain = 1;                   // of the candidates so far
  Ahead ahead;
};

// One candidate, all stages.
Result<core::Verdict> EvaluateCandidate(Judge::State& state, const core::SourceRef& candidate,
                                        core::Evaluator& evaluator, VerificationLevel effort);

}  // namespace warpwright::judge
