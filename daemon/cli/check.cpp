#include "app/check.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/exit_code.h"

namespace warpwright::cli {

Result<int> RunCheck(const CommonOptions& options) {
  WW_ASSIGN(const Session session, Session::Open(options));
  worker::WorkerEvaluator worker = session.MakeWorker();
  WW_ASSIGN(const app::CheckReport report,
            app::CheckRepository(session.workspace(), {worker, session.Skills(), session.Toolchain()}));
  const std::vector<Error>& errors = report.errors;
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& e : errors)
      list.push_back(
          {{"file", e.file}, {"line", e.line}, {"column", e.column}, {"message", e.message}, {"remedy", e.remedy}});
    std::puts(nlohmann::json({{"ok", errors.empty()}, {"kernels", report.kernels}, {"errors", list}}).dump(2).c_str());
  } else {
    for (const auto& error : errors) fmt::print(stderr, "{}\n", error.Format());
    if (errors.empty()) fmt::print("{} kernels, their sources, references and the skills are fine.\n", report.kernels);
  }
  return errors.empty() ? kExitDone : ExitCodeOf(errors.front());
}

}  // namespace warpwright::cli
