// How an evaluation runs a candidate. Private to judge/.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "judge/dead_code.h"
#include "judge/judge_state.h"

namespace warpwright::judge {

struct RunKind {
  bool second = false;   // other guard bands and workspace poison than the first
  bool guarded = false;  // with guard bands on the simulator too, which otherwise faults at the exact access
  core::PageGuard exact = core::PageGuard::kNone;
  uint32_t runs = 1;
  core::Perturbation perturbation = core::Perturbation::kNone;
  uint32_t earlier_calls = 0;
  uint64_t sample_instructions = 0;
  bool decisions = false;
  bool visibility = false;
  bool simulated = false;                                    // on the simulator of a GPU's chip
  std::optional<uint64_t> instructions = {};                 // thread instructions, at most
  std::span<const Trial> later = {};                         // the trials after this one
  const std::vector<core::BufferContent>* beside = nullptr;  // of a second call at the same time, on another stream
};
core::ExecuteOptions OptionsOf(const RunKind& kind);

inline constexpr uint32_t kSimulatedRuns = 3, kQuickRuns = 3, kFullRuns = 20;  // for determinism

class CandidateRuns {
 public:
  CandidateRuns(Judge::State& state, const core::SourceRef& candidate, core::Evaluator& evaluator,
                VerificationLevel effort)
      : state_(state), candidate_(candidate), evaluator_(evaluator), effort_(effort), added_({}, candidate.file) {}

  Result<RunOutcome> Execute(const Trial& trial, const std::vector<core::BufferContent>& inputs, RunKind kind);
  // Exactly as specified by `kind`, if that is not what the device always does; unless the original itself needs the
  // memory around its buffers.
  Result<RunOutcome> ExecuteExactly(const Trial& trial, const TrialReference& reference,
                                    const std::vector<core::BufferContent>& inputs, RunKind kind);
  // On the same inputs. Simulated runs cost as much as the first: a quick evaluation has one more, of the cheapest
  // case.
  uint32_t Count(const Trial& trial) const;
  bool full() const { return effort_ == VerificationLevel::kFull; }
  // Asks the worker which lines the candidate adds. Before that, and for who does not ask, it adds none.
  Status ReadAdded();
  // Which of them it ran so far.
  AddedCode& added() { return added_; }
  AddedCode::Sizes SizesOf(const Trial& trial) const;
  // Whether `run` went through kernels or lines (where they are known) that no run with visibility has gone through; a
  // few times at most.
  bool TookNewPath(const core::Executed& run) const;
  // The first of its kernels that no run has launched so far; empty: there is none.
  std::string IdleKernel() const;

 private:
  Judge::State& state_;
  const core::SourceRef& candidate_;
  core::Evaluator& evaluator_;
  const VerificationLevel effort_;
  AddedCode added_;
  std::set<std::string> kernels_, launched_;
  std::set<std::string> followed_;  // kernels and lines of runs with visibility
  int followed_runs_ = 0;
};

}  // namespace warpwright::judge
