#include "judge/dead_code_check.h"

#include <algorithm>

#include "judge/lift_shapes.h"
#include "judge/shapes.h"

namespace warpwright::judge {

// On the simulator, also of a GPU's chip, which lines of the candidate a trial runs.
Status DeadCodeCheck::SimulateForLines(const Trial& trial) {
  RunConfiguration setting{.source = &of_.candidate, .spec = &of_.state.spec, .c = &trial.c};
  setting.device = of_.state.on_simulator() ? of_.state.device : of_.state.options.simulator;
  setting.options.keep_outputs = false;
  setting.options.lines = true;
  setting.options.sample_instructions = of_.state.options.sample_instructions;
  WW_ASSIGN(const auto inputs, of_.state.oracle.InputsOf(trial));
  WW_ASSIGN(const RunOutcome outcome, RunKernel(of_.evaluator, setting, PlacedFor(of_.state.spec, trial, *inputs)));
  if (const auto* verdict = std::get_if<core::Verdict>(&outcome))
    return Fail(ErrorCode::kUnsupported, core::VerdictMessage(*verdict));
  of_.runs.added().Saw(std::get<core::Executed>(outcome).lines, of_.runs.SizesOf(trial));
  return {};
}

// A GPU does not tell which lines ran: samples of the cases are simulated, then, as long as some line has not run, the
// small cases that were verified, whose sizes are known to fit together, at other alignments, and odd shapes.
Status DeadCodeCheck::SimulateCases(const core::Case& small, uint64_t secret) {
  if (of_.state.options.simulator.empty()) return {};
  for (const core::CaseMeasurement& measured : of_.measured.cases)
    for (const core::Case& c : of_.state.spec.cases)
      if (c.name == measured.case_name) WW_TRY(SimulateForLines({.c = c, .seed = of_.state.options.seed}));
  for (const Pointers pointers : {Pointers::kAligned, Pointers::kLeast})
    for (const VerifiedCase& verified : of_.state.verified) {
      if (of_.runs.added().complete()) return {};
      if (pointers != Pointers::kAligned && !HasNarrowAlignment(of_.state.spec)) continue;
      // A path for what is not aligned may be the only one there: callers have it with the sizes that count, too.
      (void)SimulateForLines({.c = *verified.c, .seed = of_.state.options.seed, .pointers = pointers});
    }
  std::vector<core::Case> others = SmallCasesLikeTimed(of_.state.spec);
  for (core::Case& odd : OddShapes(of_.state.spec, small, secret, VerificationLevel::kFull))
    others.push_back(std::move(odd));
  for (core::Case& other : others) {
    if (of_.runs.added().complete()) break;
    const auto bytes = CaseBytes(of_.state.spec, other);
    if (!bytes || *bytes > of_.state.options.max_long_bytes) continue;  // sizes that were drawn may take any memory
    const Trial trial{.check = core::Check::kOddShape, .c = std::move(other), .seed = secret};
    (void)SimulateForLines(trial);  // the manifest may not allow the sizes
  }
  return {};
}

// What is for infinities and NaN alone runs in no other trial, and special values were tried in one case: a path that
// the launcher takes in another has not seen any. That of the case that counts may be taken by no other one.
void DeadCodeCheck::SimulateSpecialInputs(uint64_t secret) {
  if (!of_.state.on_simulator() && of_.state.options.simulator.empty()) return;
  std::vector<core::Case> cases = SmallCasesLikeTimed(of_.state.spec);
  cases.insert(cases.end(), of_.state.spec.cases.begin(), of_.state.spec.cases.end());
  for (const core::Case& c : cases) {
    const auto bytes = CaseBytes(of_.state.spec, c);
    if (!bytes || *bytes > of_.state.options.max_case_bytes) continue;
    for (const Trial& trial : PlanTrials(of_.state.spec, c, secret, VerificationLevel::kFull)) {
      if (of_.runs.added().complete()) return;
      if (HasSpecialInputs(trial)) (void)SimulateForLines(trial);
    }
  }
}

// A search tries two odd shapes only: before a line is called dead, all are tried.
Result<Failure> DeadCodeCheck::Check(const core::Case& small, uint64_t secret) {
  AddedCode& added = of_.runs.added();
  if (!added.any() || (!of_.state.on_simulator() && of_.effort == VerificationLevel::kQuick)) return Failure();
  if (!of_.state.on_simulator()) {
    if (const Status simulated = SimulateCases(small, secret); !simulated) {
      of_.measured.notes.push_back("dead-code: not tested: it cannot be simulated: " + simulated.error().message);
      return Failure();
    }
  } else if (!added.complete() && of_.effort == VerificationLevel::kQuick) {
    WW_ASSIGN(Failure failure, of_.shapes.LikeTimed(VerificationLevel::kFull));
    if (failure) return failure;
    if (!added.complete()) {
      WW_ASSIGN(failure, of_.shapes.Odd(small, VerificationLevel::kFull));
      if (failure) return failure;
    }
  }
  SimulateSpecialInputs(secret);
  if (!added.known()) {
    of_.measured.notes.emplace_back("dead-code: not tested: no run told which lines it ran");
    return Failure();
  }
  if (auto refused = added.Judge()) return Failure(std::move(*refused));
  of_.trials.Passed(core::Check::kDeadCode);
  return Failure();
}

}  // namespace warpwright::judge
