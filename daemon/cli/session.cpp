#include "cli/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "base/json_codec.h"
#include "config/chip_file.h"
#include "config/gpu_chip.h"
#include "core/machine_fields.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

fs::path DefaultCache() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/')
    return fs::path(xdg) / "warpwright";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache/warpwright";
  return fs::temp_directory_path() / fmt::format("warpwright-{}", ::getuid());
}

fs::path BesideThisProgram(const char* name) {
  std::error_code error;
  // Not canonical(): after an upgrade the running program's file is gone ("/usr/bin/warpwright (deleted)"), its folder
  // is not.
  return fs::read_symlink("/proc/self/exe", error).parent_path() / name;
}

// The line that the worker answers an option with.
Result<std::string> QueryWorker(const CommonOptions& options, const std::vector<std::string>& question) {
  Command command;
  command.argv = WorkerArguments(options);
  command.argv.insert(command.argv.end(), question.begin(), question.end());
  command.env = WorkerEnvironment();
  WW_ASSIGN(const Completed done, Run(command));
  if (done.exit_code != 0)
    return Fail(ErrorCode::kEnvironment, done.err.empty() ? "the worker does not start"
                                                          : done.err.substr(0, done.err.find_last_not_of('\n') + 1));
  return done.out.substr(0, done.out.find('\n'));
}

Result<GpuFacts> QueryGpu(const CommonOptions& options) {
  WW_ASSIGN(const std::string answer, QueryWorker(options, {"--describe-gpu", options.device}));
  auto facts = DecodeJson<GpuFacts>(answer);
  if (!facts)
    return Fail(ErrorCode::kCorrupt, "the worker's description of the GPU does not decode: " + facts.error().message);
  return facts;
}

}  // namespace

fs::path CacheFolder(const CommonOptions& options) {
  return fs::absolute(options.cache.empty() ? DefaultCache() : fs::path(options.cache));
}

std::vector<std::string> WorkerArguments(const CommonOptions& options) {
  std::vector<std::string> argv;
  std::istringstream words(options.worker);
  for (std::string word; words >> word;) argv.push_back(word);
  if (argv.empty()) argv.push_back(BesideThisProgram("warpwright-worker").string());
  argv.insert(argv.end(), {"--cache", CacheFolder(options).string()});
  return argv;
}

Status CheckDeviceName(const std::string& device) {
  if (device.starts_with("sim:") || device == "cuda" || device.starts_with("cuda:")) return {};
  return Fail(ErrorCode::kUsage, "unknown device '" + device + "'",
              "use cuda, cuda:1, " + SimulatedDevices());
}

Result<Session> Session::Open(const CommonOptions& options) {
  WW_TRY(CheckDeviceName(options.device));
  const bool simulated = options.device.starts_with("sim:");
  WW_ASSIGN(Repository repository, Repository::Open(options.repo));
  TargetDevice device{.name = options.device, .chip = {}, .gpu = {}};
  if (simulated) {
    WW_ASSIGN(device.chip, LoadChip(options.device.substr(4)));
  }
  const fs::path state =
      fs::absolute(options.state.empty() ? repository.common_directory() / "warpwright" : fs::path(options.state));
  for (const auto& folder : {state, CacheFolder(options)}) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
      return Fail(ErrorCode::kEnvironment, "create " + folder.string() + ": " + error.message(),
                  "name another folder with --state or --cache");
  }
  if (!simulated) {
    WW_ASSIGN(device.gpu, QueryGpu(options));
    WW_ASSIGN(device.chip, ChipOf(*device.gpu));
  }
  return Session(options, Workspace(std::move(repository), state, std::move(device), options.kernels));
}

WorkerCommand Session::Worker() const {
  const Repository& repository = workspace_.repository();
  WorkerCommand command;
  command.argv = WorkerArguments(options_);
  command.argv.insert(command.argv.end(), {"--readable", workspace_.state().string()});
  if (!repository.bare())
    command.argv.insert(command.argv.end(), {"--readable", fs::absolute(repository.root()).string()});
  if (workspace_.device().gpu) command.argv.emplace_back("--gpu");
  command.log = workspace_.state() / "worker.log";
  return command;
}

ToolchainSource Session::Toolchain() const {
  return [options = options_] { return QueryWorker(options, {"--toolchain"}); };
}
SkillsSource Session::Skills() const {
  return [options = options_] { return LoadSkillsOf(options); };
}
JsonLinesStore Session::Experiences() const {
  return JsonLinesStore(workspace_.experience_file(),
                        {workspace_.repository().root() / ".warpwright/experience.jsonl"});
}

RestartableEvaluator Restartable(WorkerEvaluator& worker) {
  return {worker, [&worker] { worker.Restart(); }};
}

Result<Completed> QueryMachine(const CommonOptions& options, const std::vector<std::string>& question) {
  Command command;
  command.argv = WorkerArguments(options);
  command.argv.insert(command.argv.end(), question.begin(), question.end());
  command.env = WorkerEnvironment();
  command.deadline = std::chrono::seconds(90);
  return Run(command);
}

Result<SkillLibrary> LoadSkillsOf(const CommonOptions& options) {
  return options.skills.empty() ? LoadBuiltInSkills() : LoadSkills(options.skills);
}

}  // namespace warpwright
