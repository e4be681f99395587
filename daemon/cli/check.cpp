#include "app/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "report/format.h"

namespace warpwright::cli {

namespace {

using nlohmann::json;

json ToJson(const app::CheckedKernel& kernel) {
  json cases = json::array();
  for (const app::CheckedCase& c : kernel.cases)
    cases.push_back({{"case", c.name}, {"tried", c.tried}, {"fate", Name(c.fate)}, {"why", c.why}});
  return {{"kernel", kernel.name}, {"entry", kernel.entry}, {"cases", cases}};
}

bool Stops(app::CaseFate fate) {
  return fate == app::CaseFate::kRefused || fate == app::CaseFate::kCannotTell ||
         fate == app::CaseFate::kWrongInManifest || fate == app::CaseFate::kUnanswered;
}

// One row for each case; what stops a kernel is marked.
void PrintFates(const std::vector<app::CheckedKernel>& kernels) {
  size_t name = 6, entry = 5, shape = 4;
  for (const app::CheckedKernel& kernel : kernels) {
    name = std::max(name, kernel.name.size());
    entry = std::max(entry, kernel.entry.size());
    for (const app::CheckedCase& c : kernel.cases) shape = std::max(shape, c.name.size());
  }
  if (!kernels.empty())
    fmt::print("  {:{}}  {:{}}  {:{}}  what will become of it\n", "kernel", name, "entry", entry, "case", shape);
  for (const app::CheckedKernel& kernel : kernels)
    for (const app::CheckedCase& c : kernel.cases)
      fmt::print("{} {:{}}  {:{}}  {:{}}  {}{}{}\n", Stops(c.fate) || c.name.empty() ? "!" : " ", kernel.name, name,
                 kernel.entry, entry, base::Printable(c.name), shape, Name(c.fate), c.tried ? " (tried)" : "",
                 c.why.empty() ? "" : ": " + base::Printable(c.why));
}

}  // namespace

Result<int> RunCheck(const CommonOptions& options) {
  WW_ASSIGN(const Session session, Session::Open(options));
  worker::WorkerEvaluator worker = session.MakeWorker();
  Progress progress(options.quiet || options.json);
  WW_ASSIGN(
      const app::CheckReport report,
      app::CheckRepository(session.workspace(), {worker, session.Skills(), session.Toolchain(), progress.Callbacks()}));
  const std::vector<Error>& errors = report.errors;
  const bool stopped = std::any_of(report.fates.begin(), report.fates.end(), [](const app::CheckedKernel& kernel) {
    return std::any_of(kernel.cases.begin(), kernel.cases.end(), [](const auto& c) { return Stops(c.fate); });
  });
  if (options.json) {
    json list = json::array(), fates = json::array();
    for (const auto& e : errors)
      list.push_back(
          {{"file", e.file}, {"line", e.line}, {"column", e.column}, {"message", e.message}, {"remedy", e.remedy}});
    for (const auto& kernel : report.fates) fates.push_back(ToJson(kernel));
    const json all = {
        {"ok", errors.empty() && !stopped}, {"kernels", report.kernels}, {"errors", list}, {"fates", fates}};
    std::puts(base::DumpJson(all, 2).c_str());
  } else {
    PrintFates(report.fates);
    for (const auto& error : errors) fmt::print(stderr, "{}\n", error.Format());
    if (errors.empty() && !stopped)
      fmt::print("{}, {} sources, references and the skills are fine.\n",
                 report::Plural(static_cast<int>(report.kernels), "kernel"), report.kernels == 1 ? "its" : "their");
  }
  if (!errors.empty()) return ExitCodeOf(errors.front());
  return stopped ? kExitUnverified : kExitDone;
}

}  // namespace warpwright::cli
