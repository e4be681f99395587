#include "app/record.h"

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

json ToJson(const app::RecordResult& result) {
  json kernels = json::array();
  for (const app::RecordedKernel& kernel : result.kernels) {
    json cases = json::array();
    for (const judge::CaseRecord& c : kernel.cases)
      cases.push_back({{"case", c.case_name},
                       {"recorded", c.recorded},
                       {"path", c.path},
                       {"bytes", c.bytes},
                       {"sketched", c.sketched},
                       {"note", c.note}});
    kernels.push_back({{"kernel", kernel.kernel}, {"cases", cases}});
    if (kernel.error) kernels.back()["error"] = kernel.error->Format();
  }
  return {{"base", result.base}, {"kernels", kernels}};
}

void Print(const app::RecordedKernel& kernel) {
  if (kernel.error) fmt::print("{}: {}\n", kernel.kernel, base::Printable(kernel.error->Format()));
  for (const judge::CaseRecord& c : kernel.cases)
    fmt::print("{} {}: {}\n", kernel.kernel, c.case_name,
               c.recorded ? fmt::format("{} ({} bytes{}) {}", c.path, c.bytes, c.sketched ? ", sketched" : "", c.note)
                          : "not recorded: " + c.note);
}

}  // namespace

Result<int> RunRecord(const RevisionOptions& options) {
  WW_ASSIGN(const Session session, Session::Open(options.common));
  worker::WorkerEvaluator trusted = session.MakeWorker();
  Progress progress(options.common.quiet || options.common.json);
  const auto print = [&](const app::RecordedKernel& kernel) {
    if (options.common.json) return;
    progress.Finish();
    Print(kernel);
  };
  const app::JudgingServices services{
      .trusted = trusted, .toolchain = session.Toolchain(), .progress = progress.Callbacks()};
  WW_ASSIGN(const app::RecordResult result, app::RecordReferences(session.workspace(), options.base, services, print));
  if (options.common.json) std::puts(base::DumpJson(ToJson(result), 2).c_str());
  for (const app::RecordedKernel& kernel : result.kernels)
    if (kernel.error) return ExitCodeOf(*kernel.error);
  return result.complete ? kExitDone : kExitUnverified;
}

}  // namespace warpwright::cli
