#include "app/verify.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/progress.h"

namespace warpwright::cli {
namespace {

using nlohmann::json;

json ToJson(const app::VerifyResult& result, const std::string& device) {
  json cases = json::array();
  for (const app::CaseVerdict& c : result.cases)
    cases.push_back(
        {{"kernel", c.kernel}, {"case", c.name}, {"verdict", c.verdict}, {"check", c.check}, {"message", c.message}});
  json notes = json::array();
  for (const app::KernelNote& note : result.notes) notes.push_back({{"kernel", note.kernel}, {"note", note.text}});
  return {{"base", result.base}, {"device", device}, {"passed", result.passed}, {"cases", cases}, {"notes", notes}};
}

void Print(const app::VerifyResult& result) {
  for (const app::CaseVerdict& c : result.cases)
    fmt::print("{:20} {:24} {:14} {}{}\n", c.kernel, c.name, c.verdict, c.check.empty() ? "" : "[" + c.check + "] ",
               base::Printable(c.message));
  for (const app::KernelNote& note : result.notes) fmt::print("{:20} {}\n", note.kernel, base::Printable(note.text));
}

}  // namespace

Result<int> RunVerify(const RevisionOptions& options) {
  WW_ASSIGN(const Session session, Session::Open(options.common));
  worker::WorkerEvaluator trusted = session.MakeWorker(), candidates = session.MakeWorker();
  Progress progress(options.common.quiet || options.common.json);
  const app::JudgingServices services{.trusted = trusted,
                                      .toolchain = session.Toolchain(),
                                      .progress = progress.Callbacks(),
                                      .another = session.Another(nullptr)};
  WW_ASSIGN(const app::VerifyResult result,
            app::VerifyWorkingTree(session.workspace(), options.base, services, Restartable(candidates)));
  if (options.common.json) std::puts(base::DumpJson(ToJson(result, options.common.device), 2).c_str());
  else Print(result);
  if (result.error) return ExitCodeOf(*result.error);
  return result.passed ? kExitDone : kExitUnverified;
}

}  // namespace warpwright::cli
