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

using Outcome = core::ToolFinding::Outcome;

// What is wrong with it, as nvcc builds it.
struct Objection {
  bool built = true;
  std::string message;  // empty: nothing
};
Result<Objection> ObjectionTo(const core::SourceRef& source, judge::Reviewer& judge, core::Evaluator& built) {
  WW_ASSIGN(const core::Verdict verdict, judge.Evaluate(source, built, judge::VerificationLevel::kQuick));
  if (core::Passed(verdict)) return Objection();
  // NVRTC has compiled it before.
  return Objection{!std::holds_alternative<core::CompileFailed>(verdict), core::VerdictMessage(verdict)};
}

// With constexpr functions of the host called on the device, as PyTorch's builds of extensions allow.
core::SourceRef Relaxed(core::SourceRef source) {
  source.build.flags.insert(core::BuildFlag::kRelaxedConstexpr);
  return source;
}

}  // namespace

std::vector<core::ToolFinding> JudgeNvccBuild(judge::Reviewer& judge, core::Evaluator& candidates,
                                              const core::SourceRef& original, const core::SourceRef& winner,
                                              const std::string& architecture) {
  core::ToolFinding build{"nvcc -arch=" + architecture, Outcome::kNotRun, {}};
  core::ToolFinding kernels{"kernels as nvcc builds them", Outcome::kNotRun, {}};
  BuiltByNvcc built(candidates);
  Result<Objection> against = ObjectionTo(winner, judge, built);
  Result<Objection> usual = Objection();
  if (against && !against->message.empty()) usual = ObjectionTo(original, judge, built);
  // What nvcc refuses in the original too, the project builds with flags that the manifest does not name.
  if (against && !against->built && usual && !usual->built) {
    usual = ObjectionTo(Relaxed(original), judge, built);
    if (usual && usual->built) against = ObjectionTo(Relaxed(winner), judge, built);
  }
  const auto say = [&](core::ToolFinding& finding, const std::string& what) {
    if (usual && usual->message.empty()) {
      finding.outcome = Outcome::kFound;
      finding.message = against->message;
    } else {
      finding.message = what + (usual ? usual->message : usual.error().message);
    }
  };
  if (!against) {
    build.message = against.error().message;
    return {build};
  }
  if (!against->built) {
    say(build, "it refuses the original too: ");
    return {build};
  }
  build.outcome = kernels.outcome = Outcome::kClean;
  if (!against->message.empty()) {
    kernels.outcome = Outcome::kNotRun;
    say(kernels, "the original fails so too: ");
  }
  return {build, kernels};
}

}  // namespace warpwright::app
