#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/judging.h"
#include "cli/progress.h"

namespace warpwright {
namespace {

struct Row {
  std::string kernel, name, verdict, check, message;
};

// What a verdict over all cases says of each. A failure stops the judge, so that later cases are "not reached".
std::vector<Row> Rows(const KernelSpec& spec, const Baseline& baseline, const Verdict& verdict) {
  std::string failed_case, check;
  std::visit(Overload{[&](const CompileFailed&) { check = "compile"; }, [&](const Refused& v) { check = v.check; },
                      [&](const WrongResult& v) {
                        check = v.check;
                        failed_case = v.case_name;
                      },
                      [&](const Faulted& v) {
                        check = Name(v.fault.kind);
                        failed_case = v.case_name;
                      },
                      [&](const Measured&) {}},
             verdict);
  std::vector<Row> rows;
  const bool passed = Passed(verdict);
  bool named = false;
  for (const auto& status : baseline.cases) {
    Row row{spec.name, status.name, "", "", ""};
    if (!passed && !named && (failed_case.empty() || failed_case.rfind(status.name, 0) == 0)) {
      named = true;
      row.verdict = VerdictName(verdict);
      row.check = check;
      row.message = VerdictMessage(verdict);
    } else if (passed && status.verified) {
      row.verdict = "verified";
    } else if (passed) {
      row.verdict = status.measured ? "measured" : "skipped";
      row.check = status.check;
      row.message = status.note;
    } else {
      row.verdict = "not_reached";
    }
    rows.push_back(std::move(row));
  }
  if (!passed && !named) rows.push_back({spec.name, failed_case, std::string(VerdictName(verdict)), check, VerdictMessage(verdict)});
  return rows;
}

}  // namespace

Result<int> RunVerify(const RevisionOptions& options) {
  WW_ASSIGN(Session session, Session::Open(options.common));
  if (session.repository().bare()) return Fail(ErrorCode::kUsage, "verify looks at a working tree, and a bare repository has none");
  WW_ASSIGN(const std::string base, session.repository().Resolve(options.base));
  WW_ASSIGN(const Manifest manifest, session.ManifestAt(base));
  WW_ASSIGN(const std::filesystem::path tree, session.ExportTree(base));
  WW_ASSIGN(const std::string toolchain, session.Toolchain());
  WorkerEvaluator trusted = session.MakeWorker(), candidates = session.MakeWorker();
  Progress progress(options.common.quiet || options.common.json);

  std::vector<Row> rows;
  bool passed = true;
  for (const auto& spec : manifest.kernels) {
    progress.Step("verifying " + spec.name);
    WW_ASSIGN(const SourceRef original, Session::Source(tree, spec.file));
    WW_ASSIGN(const SourceRef candidate, Session::Source(std::filesystem::absolute(session.repository().root()), spec.file));
    // References come from the trusted revision: a candidate cannot bring its own.
    const auto judge = MakeJudge(session, spec, original, manifest, tree, toolchain, trusted, [&] { candidates.Restart(); });
    WW_ASSIGN(const Baseline baseline, judge->Prepare());
    Verdict verdict = baseline.original;
    if (Passed(verdict)) {
      WW_ASSIGN(verdict, judge->Evaluate(candidate, candidates, Effort::kFull));
    }
    passed &= Passed(verdict);
    for (auto& row : Rows(spec, baseline, verdict)) rows.push_back(std::move(row));
  }
  progress.Finish();
  if (options.common.json) {
    nlohmann::json cases = nlohmann::json::array();
    for (const auto& r : rows) cases.push_back({{"kernel", r.kernel}, {"case", r.name}, {"verdict", r.verdict}, {"check", r.check}, {"message", r.message}});
    std::puts(nlohmann::json({{"base", base}, {"device", options.common.device}, {"passed", passed}, {"cases", cases}}).dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    for (const auto& r : rows)
      fmt::print("{:20} {:24} {:14} {}{}\n", r.kernel, r.name, r.verdict, r.check.empty() ? "" : "[" + r.check + "] ", Printable(r.message));
  }
  return passed ? kExitDone : kExitUnverified;
}

}  // namespace warpwright
