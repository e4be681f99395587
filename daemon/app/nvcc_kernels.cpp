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
    WW_ASSIGN(core::ExecuteOutcome outcome, evaluator_.Execute(whole));
    if (auto* executed = std::get_if<core::Executed>(&outcome))
      std::erase_if(executed->notes, [&](const std::string& note) { return Heard(note); });
    return outcome;
  }
  Result<core::TimeOutcome> Time(const core::TimeRequest& request) override { return evaluator_.Time(request); }
  Result<core::LiftOutcome> Lift(const core::LiftRequest& request) override { return evaluator_.Lift(request); }
  Result<core::Equivalence> Compare(const core::EquivalenceRequest& request) override {
    return evaluator_.Compare(request);
  }

  // The first of each, in all runs; empty: nothing.
  const std::string& launches_otherwise() const { return otherwise_; }
  const std::string& launches_unknown() const { return unknown_; }

 private:
  bool Heard(const std::string& note) {
    for (const auto& [prefix, kept] :
         {std::pair(core::kLaunchesOtherwise, &otherwise_), std::pair(core::kLaunchesUnknown, &unknown_)}) {
      if (!note.starts_with(prefix)) continue;
      if (kept->empty()) *kept = note.substr(prefix.size());
      return true;
    }
    return false;
  }

  core::Evaluator& evaluator_;
  std::string otherwise_, unknown_;
};

using Outcome = core::ToolFinding::Outcome;

// What is wrong with it, as nvcc builds it.
struct Objection {
  bool built = true;
  std::string message;                               // empty: nothing
  std::string launches_otherwise, launches_unknown;  // empty: nothing
};
Result<Objection> ObjectionTo(const core::SourceRef& source, judge::Reviewer& judge, core::Evaluator& candidates) {
  BuiltByNvcc built(candidates);
  WW_ASSIGN(const core::Verdict verdict, judge.Evaluate(source, built, judge::VerificationLevel::kQuick));
  Objection objection{true, {}, built.launches_otherwise(), built.launches_unknown()};
  if (core::Passed(verdict)) return objection;
  objection.built = !std::holds_alternative<core::CompileFailed>(verdict);  // NVRTC has compiled it before
  objection.message = core::VerdictMessage(verdict);
  return objection;
}

// With constexpr functions of the host called on the device, as PyTorch's builds of extensions allow.
core::SourceRef Relaxed(core::SourceRef source) {
  source.build.flags.insert(core::BuildFlag::kRelaxedConstexpr);
  return source;
}

// `against` holds of the winner; what holds of the original alike, or is not known of it, counts against nobody.
core::ToolFinding FindingOf(std::string tool, const std::string& against, const Result<std::string>& usual,
                            const char* excuse) {
  core::ToolFinding finding{std::move(tool), Outcome::kClean, {}};
  if (against.empty()) return finding;
  finding.outcome = usual && usual->empty() ? Outcome::kFound : Outcome::kNotRun;
  finding.message = usual && usual->empty() ? against : excuse + (usual ? *usual : usual.error().message);
  return finding;
}

std::string InTheRealBuild(const std::string& otherwise) {
  return otherwise.empty() ? otherwise : "the real build launches otherwise: " + otherwise;
}

}  // namespace

std::vector<core::ToolFinding> JudgeNvccBuild(judge::Reviewer& judge, core::Evaluator& candidates,
                                              const core::SourceRef& original, const core::SourceRef& winner,
                                              const std::string& architecture) {
  const std::string nvcc = "nvcc -arch=" + architecture;
  Result<Objection> against = ObjectionTo(winner, judge, candidates);
  if (!against) return {{nvcc, Outcome::kNotRun, against.error().message}};
  Result<Objection> usual = Objection();
  if (!against->message.empty() || !against->launches_otherwise.empty())
    usual = ObjectionTo(original, judge, candidates);
  // What nvcc refuses in the original too, the project builds with flags that the manifest does not name.
  if (!against->built && usual && !usual->built) {
    usual = ObjectionTo(Relaxed(original), judge, candidates);
    if (usual && usual->built) against = ObjectionTo(Relaxed(winner), judge, candidates);
    if (!against) return {{nvcc, Outcome::kNotRun, against.error().message}};
  }
  const auto original_says = [&](std::string Objection::* what) {
    return usual ? Result<std::string>((*usual).*what) : Fail(usual.error());
  };
  const Result<std::string> message = original_says(&Objection::message);
  if (!against->built) return {FindingOf(nvcc, against->message, message, "it refuses the original too: ")};
  core::ToolFinding launches =
      FindingOf("launches as nvcc builds them", InTheRealBuild(against->launches_otherwise),
                original_says(&Objection::launches_otherwise), "the original launches otherwise too: ");
  if (launches.outcome == Outcome::kClean && !against->launches_unknown.empty())
    launches = {launches.tool, Outcome::kNotRun, against->launches_unknown};
  return {{nvcc, Outcome::kClean, {}},
          std::move(launches),
          FindingOf("kernels as nvcc builds them", against->message, message, "the original fails so too: ")};
}

}  // namespace warpwright::app
