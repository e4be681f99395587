// The original's results. For each trial the oracle runs the trusted original in the trusted evaluator, finds the truth
// that its rounding is measured against, and caches the result for the next candidate.
//
// Runs per trial: the original once, and twice with complementary poison if it is not known yet whether it writes its
// whole output at that shape. The truth comes from the form of what it computes, evaluated here (form_truth.h); where
// there is no form, it takes too much or disagrees, from the float64 shadow, which runs on the same and on perturbed
// inputs; where there is no shadow either, from the form at a sample of the elements, and the original runs on
// perturbed inputs. All that is only done where a candidate's output is not the original's bit for bit, and honest runs
// of the form only where it is not accepted without them (Depth). A shadow has no bounds: beside its truth stands what
// the original's errors were, which in some row are small by chance. What is refused by it is judged by the form's
// sample too, which bounds what roundings may come to.
#pragma once

#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/evaluator.h"
#include "judge/compare.h"
#include "judge/form_truth.h"
#include "judge/shadow.h"
#include "judge/trial.h"

namespace warpwright::judge {

// How much is known of the original's result. Each is dearer than the one before, and what passes by one passes by
// those after it: tolerances only grow.
enum class Depth : uint8_t {
  kBytes,   // what it is
  kTruth,   // what it should be, and how far it may be from that
  kHonest,  // how far honest runs are
  kBounds,  // where a shadow tells the truth: what roundings may come to, by the form at a sample, in its place
};

struct TrialReference {
  Depth depth = Depth::kBytes;
  std::vector<core::BufferContent> inputs;   // every buffer, as both sides get it, including poison
  std::vector<size_t> outputs;               // which of them are `out` or `inout`
  std::vector<OutputLayout> layouts;         // parallel to `outputs`
  std::vector<OutputReference> references;   // parallel to `outputs`
  bool deterministic = true;                 // as far as two runs show
  std::vector<std::string> changed_globals;  // through which its results may depend on earlier calls
  std::vector<double> numbers;               // that the original's code and text name
  std::vector<double> compared;              // with which it compares something (core/execution.h)
  core::CodeUses uses;
  std::string health;                  // not empty: why the original itself is unfit: "it writes its input x"
  std::optional<FormTruth::Use> form;  // where the truth is from the form
  uint64_t Bytes() const;
};
// A Verdict concerns the original: it does not run under this trial.
using OracleResult = std::variant<core::Verdict, std::shared_ptr<const TrialReference>>;

// One run of any kernel. A reply whose buffers do not fit the request is an Error.
struct RunConfiguration {
  const core::SourceRef* source = nullptr;
  const core::KernelSpec* spec = nullptr;
  const core::Case* c = nullptr;
  std::string device;
  core::ExecuteOptions options;
  std::vector<core::UpcomingCall> upcoming = {};             // of the same evaluator
  const std::vector<core::BufferContent>* beside = nullptr;  // of a second call at the same time; null: none
};
using RunOutcome = std::variant<core::Verdict, core::Executed>;
Result<RunOutcome> RunKernel(core::Evaluator& evaluator, const RunConfiguration& setting,
                             const std::vector<core::BufferContent>& buffers);

// A quarter of the machine's memory, but at most 16 GiB: every candidate of a task needs the same trials.
uint64_t OracleCacheBytes();

struct OracleSettings {
  std::string device;
  std::filesystem::path repository;
  uint64_t guard_bytes = 0;
  uint64_t cache_bytes = OracleCacheBytes();
  std::function<Result<core::LiftOutcome>()> lift = {};  // what the original computes; empty: not asked
  bool prefetches = false;                               // there are cores for it
  FormLimits form_limits = {};
};

class Oracle {
 public:
  Oracle(const core::KernelSpec& spec, core::SourceRef original, core::Evaluator& trusted, OracleSettings settings);

  // Query a case's own inputs before other trials: they give the usual magnitude of each output.
  Result<OracleResult> Query(const Trial& trial, Depth depth = Depth::kHonest);
  // The original's result for contents that a device derived from this trial's. `trial` must have the manifest's
  // distribution, and the case's own inputs must have been queried. With a name the result is cached for later queries
  // with the same contents under that name.
  Result<OracleResult> QueryWithContents(const Trial& trial, std::vector<core::BufferContent> contents,
                                         const std::string& name = {}, Depth depth = Depth::kHonest);
  // The first of these trials will be asked for next: its inputs are made, and the original runs, while the caller does
  // something else. Whoever asks the oracle meanwhile waits.
  void Prefetch(std::span<const Trial> later);
  // The same with as much known as asked for, or all that can be.
  Result<std::shared_ptr<const TrialReference>> Deepen(const Trial& trial,
                                                       const std::shared_ptr<const TrialReference>& known, Depth depth);
  // The same with the truth of these elements too, which no sample has. nullptr: it cannot be had.
  std::shared_ptr<const TrialReference> WithElements(const Trial& trial, const TrialReference& known,
                                                     const core::OutputElements& elements);
  // From now on trials are asked for one candidate alone, or again for all: of those few are kept. Their memory is used
  // again then, where pages of other memory would have to be faulted in.
  void SetForOneCandidate(bool one) {
    Settle();
    for_one_candidate_ = one;
  }
  // Adds what the form says of results that somebody else made of the trial's contents; whether there is one that
  // agrees.
  Result<bool> AddFormTo(const Trial& trial, TrialReference& made);
  // The trial's inputs; generated once, as long as they fit into the cache.
  Result<std::shared_ptr<const std::vector<core::BufferContent>>> InputsOf(const Trial& trial);
  // One more run of the original under the trial, regardless of the outcome.
  Result<RunOutcome> RunAgain(const Trial& trial, const TrialReference& reference, core::ExecuteOptions options);
  // Where the truth of a case's own inputs came from, or why there is none. To be asked after they were queried.
  std::string DescribeTruth();
  // Trials in which the form was not used although there is one, and why.
  const std::vector<std::string>& notes() const { return notes_; }
  // What the original computes, where a trial has shown it so; else nullptr.
  const core::Computation* form() const { return form_ && form_proven_ ? &form_->computation() : nullptr; }
  int64_t runs() const { return runs_; }

 private:
  using OutputValues = std::vector<base::UninitializedVector<double>>;  // of each output
  struct Cached {
    std::string key;
    OracleResult answer;
    uint64_t bytes;
    bool for_one_candidate;
  };
  void Settle() {
    if (prefetch_.valid()) prefetch_.get();
  }
  Result<OracleResult> QueryNow(const Trial& trial, Depth depth, std::span<const Trial> later = {});
  Result<std::shared_ptr<const TrialReference>> DeepenNow(const Trial& trial,
                                                          const std::shared_ptr<const TrialReference>& known,
                                                          Depth depth);
  // `made`: contents that this host generated, which give the usual magnitude of an output.
  Result<OracleResult> Compute(const Trial& trial, std::vector<core::BufferContent> inputs, bool made,
                               std::span<const Trial> later = {});
  Result<std::optional<core::Verdict>> RunOriginal(const Trial& trial, TrialReference& reference,
                                                   std::span<const Trial> later);
  Result<std::optional<OutputValues>> RunShadow(const Trial& trial, const TrialReference& reference, bool perturbed);
  // Created on first use; nullptr: there is none, or it was dropped.
  const Shadow* TheShadow();
  FormTruth* TheForm();
  Result<OracleResult> Deepened(const Trial& trial, const OracleResult& known, Depth depth);
  Result<std::optional<FormTruth::Declined>> AddForm(const Trial& trial, TrialReference& reference,
                                                     FormTruth::Extent extent);
  Result<bool> AddShadow(const Trial& trial, TrialReference& reference);
  Status AddBounds(const Trial& trial, TrialReference& reference);
  Status AddTruth(const Trial& trial, TrialReference& reference);
  Status AddConditioning(const Trial& trial, TrialReference& reference);
  void MarkExact(const Trial& trial, TrialReference& reference) const;
  bool ShadowAgrees(const TrialReference& reference, const OutputValues& truth) const;
  RunConfiguration Setting(const Trial& trial) const;
  void Remember(std::string key, OracleResult answer, bool for_one_candidate);
  const OracleResult* Find(const std::string& key);

  const core::KernelSpec& spec_;
  core::SourceRef original_;
  core::Evaluator& trusted_;
  OracleSettings settings_;
  std::optional<Shadow> shadow_;
  bool shadow_asked_ = false;
  std::string shadow_note_;
  bool shadow_proven_ = false;
  std::optional<FormTruth> form_;
  bool form_asked_ = false, form_proven_ = false;
  std::string form_note_;                        // why there is no form
  std::map<std::string, std::string> too_much_;  // for the form: why not, by sizes and extent
  std::vector<std::string> notes_;
  std::map<std::string, bool> writes_everything_;  // by shape
  std::map<std::string, double> typical_rms_;      // by output
  std::list<Cached> cache_;                        // most recent first
  std::list<std::pair<std::string, std::shared_ptr<const std::vector<core::BufferContent>>>>
      inputs_;  // of trials other than those queried
  int64_t runs_ = 0;
  bool for_one_candidate_ = false;
  std::future<void> prefetch_;  // the last member: its destructor waits
};

}  // namespace warpwright::judge
