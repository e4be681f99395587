#include "app/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/progress.h"

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
constexpr worker::WorkerDeadlines kDeadlines{std::chrono::seconds(60), std::chrono::seconds(120)};

void Print(const std::vector<app::Check>& checks) {
  size_t width = 0;
  for (const app::Check& check : checks) width = std::max(width, check.name.size());
  int warnings = 0, errors = 0;
  for (const app::Check& check : checks) {
    fmt::print("{:<7}  {:<{}}  {}\n", app::Name(check.status), check.name, width, base::Printable(check.message));
    if (!check.remedy.empty()) fmt::print("{:<9}{:<{}}    {}\n", "", "", width, base::Printable(check.remedy));
    warnings += check.status == app::CheckStatus::kWarning ? 1 : 0;
    errors += check.status == app::CheckStatus::kError ? 1 : 0;
  }
  fmt::print("errors: {}, warnings: {}\n", errors, warnings);
}

app::DoctorWorker MakeDoctorWorker(const CommonOptions& options, const fs::path& scratch, const fs::path& log,
                                   bool gpu) {
  worker::WorkerCommand command;
  command.argv = WorkerArguments(options);
  command.argv.insert(command.argv.end(), {"--readable", scratch.string()});
  if (gpu) command.argv.emplace_back("--gpu");
  command.log = log;
  auto worker = std::make_unique<worker::WorkerEvaluator>(std::move(command), kDeadlines);
  const worker::Supervisor& supervisor = worker->supervisor();
  return {.evaluator = std::move(worker), .hello = [&supervisor] { return supervisor.hello(); }};
}

json ToJson(const std::vector<app::Check>& checks, bool ok) {
  json rows = json::array();
  for (const app::Check& check : checks)
    rows.push_back({{"name", check.name},
                    {"status", app::Name(check.status)},
                    {"message", check.message},
                    {"remedy", check.remedy}});
  return {{"ok", ok}, {"checks", rows}};
}

}  // namespace

Result<int> RunDoctor(const CommonOptions& options) {
  if (!options.device.empty()) WW_TRY(CheckDeviceName(options.device));
  WW_ASSIGN(const base::TemporaryDirectory folder, base::TemporaryDirectory::Create("warpwright-doctor"));
  Progress progress(options.quiet || options.json);
  // The log is deleted before the user could read it.
  const fs::path log = folder.path() / "worker.log";
  const app::DoctorRequest request{.device = options.device,
                                   .repository = options.repo,
                                   .cache = CacheFolder(options),
                                   .scratch = folder.path(),
                                   .worker = WorkerArguments(options)};
  const app::DoctorServices services{
      .ask_worker = [&](const std::vector<std::string>& question) { return QueryMachine(options, question); },
      .make_worker = [&](bool gpu) { return MakeDoctorWorker(options, folder.path(), log, gpu); },
      .worker_log = [&] { return base::ReadFile(log).value_or(""); },
      .progress = progress.Callbacks()};
  const std::vector<app::Check> checks = app::MakeChecks(app::ExamineMachine(request, services));
  const bool ok = std::none_of(checks.begin(), checks.end(),
                               [](const app::Check& check) { return check.status == app::CheckStatus::kError; });
  if (options.json) fmt::print("{}\n", base::DumpJson(ToJson(checks, ok), 2));
  else Print(checks);
  return ok ? kExitDone : kExitEnvironment;
}

}  // namespace warpwright::cli
