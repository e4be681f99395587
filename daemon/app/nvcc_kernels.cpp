#include "app/nvcc_kernels.h"

namespace warpwright::app {
namespace {

// Runs what nvcc makes of the whole file in the place of what was compiled from its slice.
class BuiltByNvcc final : public core::Evaluator {
 public:
  explicit BuiltByNvcc(core::Evaluator& evaluator) : evaluator_(evaluator) {}

  Result<core::Inspection> Inspect(const core::SourceRef& source) override { return evaluator_.Inspect(source); }
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest& request) override {
    return evaluator_.Rewrite(request);
  }
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest& request) override { return evaluator_.Splice(request); }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override {
    core::ExecuteRequest whole = request;
    whole.options.nvcc = true;
    return evaluator_.Execute(whole);
  }
  Result<core::TimeOutcome> Time(const core::TimeRequest& request) override { return evaluator_.Time(request); }
  Result<core::LiftOutcome> Lift(const core::LiftRequest& request) override { return evaluator_.Lift(request); }
  Result<core::Equivalence> Compare(const core::EquivalenceRequest& request) override {
    return evaluator_.Compare(request);
  }

 private:
  core::Evaluator& evaluator_;
};

// Why the judge does not pass what nvcc makes of it; empty: it does.
Result<std::string> ObjectionTo(const core::SourceRef& source, judge::Reviewer& judge, core::Evaluator& built) {
  WW_ASSIGN(const core::Verdict verdict, judge.Evaluate(source, built, judge::VerificationLevel::kQuick));
  return core::Passed(verdict) ? std::string() : core::VerdictMessage(verdict);
}

}  // namespace

core::ToolFinding JudgeNvccKernels(judge::Reviewer& judge, core::Evaluator& candidates, const core::SourceRef& original,
                                   const core::SourceRef& winner) {
  using Outcome = core::ToolFinding::Outcome;
  core::ToolFinding finding{"kernels as nvcc builds them", Outcome::kNotRun, {}};
  BuiltByNvcc built(candidates);
  const Result<std::string> against = ObjectionTo(winner, judge, built);
  if (!against) {
    finding.message = against.error().message;
  } else if (against->empty()) {
    finding.outcome = Outcome::kClean;
  } else if (const Result<std::string> usual = ObjectionTo(original, judge, built); usual && usual->empty()) {
    finding.outcome = Outcome::kFound;
    finding.message = *against;
  } else {
    finding.message = "the original fails so too: " + (usual ? *usual : usual.error().message);
  }
  return finding;
}

}  // namespace warpwright::app
