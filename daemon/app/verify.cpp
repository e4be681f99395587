#include "app/verify.h"

#include "judge/source_file.h"

namespace warpwright::app {
namespace {

struct Failure {
  std::string check, case_name;
};

Failure FailureOf(const core::Verdict& verdict) {
  return std::visit(
      Overload{[](const core::CompileFailed&) { return Failure{"compile", {}}; },
               [](const core::Refused& v) { return Failure{v.check.text(), {}}; },
               [](const core::WrongResult& v) { return Failure{std::string(Name(v.check)), v.case_name}; },
               [](const core::Faulted& v) { return Failure{std::string(core::Name(v.fault.kind)), v.case_name}; },
               [](const core::Measured&) { return Failure{}; }},
      verdict);
}

// The row of a case of a kernel that passed.
CaseVerdict PassedCase(const std::string& kernel, const judge::CaseStatus& status) {
  if (status.verified)
    return {.kernel = kernel, .name = status.name, .verdict = "verified", .check = {}, .message = {}};
  return {.kernel = kernel,
          .name = status.name,
          .verdict = status.measured ? "measured" : "skipped",
          .check = status.check ? std::string(Name(*status.check)) : std::string(),
          .message = status.note};
}

std::string NoteOn(const core::ToolFinding& finding) {
  switch (finding.outcome) {
    case core::ToolFinding::Outcome::kClean: return finding.tool + ": nothing found";
    case core::ToolFinding::Outcome::kNotRun: return finding.tool + ": did not run: " + finding.message;
    case core::ToolFinding::Outcome::kFound: break;
  }
  return finding.tool + ": " + finding.message;
}

// Of tools that the manifest requires, and of nvcc where it is installed.
std::optional<core::Refused> RefusalIn(const std::vector<core::ToolFinding>& findings, const ToolSetup& setup) {
  auto against = core::FirstUnheard(setup.policy.require, findings);
  for (const core::ToolFinding& finding : findings)
    if (!against && finding.outcome == core::ToolFinding::Outcome::kFound) against = finding;
  if (!against) return std::nullopt;
  return core::Refused{core::CheckName(against->tool), against->message, setup.spec.file, 0};
}

// Entries that are judged in the same run, without template arguments.
std::set<std::string> OthersOfFile(const core::Manifest& manifest, const core::KernelSpec& spec) {
  std::set<std::string> entries;
  for (const core::KernelSpec& other : manifest.kernels)
    if (other.file == spec.file && other.entry != spec.entry)
      entries.insert(other.entry.substr(0, other.entry.find('<')));
  return entries;
}

}  // namespace

std::vector<CaseVerdict> CaseVerdicts(const std::string& kernel, const judge::Baseline& baseline,
                                      const core::Verdict& verdict) {
  std::vector<CaseVerdict> cases;
  if (core::Passed(verdict)) {
    for (const judge::CaseStatus& status : baseline.cases) cases.push_back(PassedCase(kernel, status));
    return cases;
  }
  const Failure failure = FailureOf(verdict);
  const auto failed = [&](const std::string& name) {
    return CaseVerdict{.kernel = kernel,
                       .name = name,
                       .verdict = std::string(core::VerdictName(verdict)),
                       .check = failure.check,
                       .message = core::VerdictMessage(verdict)};
  };
  bool named = false;
  for (const judge::CaseStatus& status : baseline.cases) {
    if (!named && (failure.case_name.empty() || failure.case_name.starts_with(status.name))) {
      named = true;
      cases.push_back(failed(status.name));
    } else {
      cases.push_back({.kernel = kernel, .name = status.name, .verdict = "not_reached", .check = {}, .message = {}});
    }
  }
  if (!named) cases.push_back(failed(failure.case_name));
  return cases;
}

Result<VerifyResult> VerifyWorkingTree(const Workspace& workspace, const std::string& base,
                                       const JudgingServices& services, const RestartableEvaluator& candidates) {
  const repo::Repository& repository = workspace.repository();
  if (repository.bare())
    return Fail(ErrorCode::kUsage, "verify works on a working tree, and a bare repository has none");
  VerifyResult result;
  WW_ASSIGN(result.base, repository.Resolve(base));
  WW_ASSIGN(const core::Manifest manifest, workspace.ManifestAt(result.base));
  WW_ASSIGN(const std::filesystem::path tree, workspace.ExportTree(result.base));
  WW_ASSIGN(const std::string toolchain, services.toolchain());
  const auto verify = [&](const core::KernelSpec& spec) -> Status {
    WW_ASSIGN(const core::SourceRef original, judge::ReadSource(tree, spec));
    WW_ASSIGN(const core::SourceRef candidate, judge::ReadSource(std::filesystem::absolute(repository.root()), spec));
    // References come from the trusted revision: a candidate cannot bring its own.
    const auto judge = MakeJudge({.device = workspace.device(),
                                  .spec = spec,
                                  .original = original,
                                  .manifest = manifest,
                                  .references = tree,
                                  .toolchain = toolchain,
                                  .fresh_worker = candidates.restart,
                                  .another = services.another,
                                  .judged_beside = OthersOfFile(manifest, spec)},
                                 services.trusted);
    WW_ASSIGN(const judge::Baseline baseline, judge->Prepare());
    core::Verdict verdict = baseline.original;
    if (core::Passed(verdict)) {
      WW_ASSIGN(verdict, judge->Evaluate(candidate, candidates.evaluator, judge::VerificationLevel::kFull));
    }
    if (const auto* measured = std::get_if<core::Measured>(&verdict)) {
      for (const std::string& note : measured->notes)
        if (note.starts_with(judge::kEquivalenceNote)) result.notes.push_back({spec.name, note});
      const ToolSetup setup{.device = workspace.device(),
                            .spec = spec,
                            .policy = manifest.policy,
                            .original = original,
                            .judge = *judge,
                            .candidates = candidates.evaluator};
      const auto findings = RunAcceptanceTools(setup, candidate, *measured);
      for (const core::ToolFinding& finding : findings) result.notes.push_back({spec.name, NoteOn(finding)});
      if (auto refused = RefusalIn(findings, setup)) verdict = std::move(*refused);
    }
    result.passed &= core::Passed(verdict);
    for (auto& row : CaseVerdicts(spec.name, baseline, verdict)) result.cases.push_back(std::move(row));
    return {};
  };
  for (const auto& spec : manifest.kernels) {
    services.progress.step("verifying " + spec.name);
    const Status status = verify(spec);
    if (status) continue;
    // Something is not installed: it will be missing for the others as well.
    if (status.error().code == ErrorCode::kEnvironment) return Fail(status.error());
    result.passed = false;
    if (!result.error) result.error = status.error();
    result.cases.push_back({.kernel = spec.name,
                            .name = {},
                            .verdict = "error",
                            .check = std::string(Name(status.error().code)),
                            .message = status.error().Format()});
  }
  services.progress.finish();
  return result;
}

}  // namespace warpwright::app
