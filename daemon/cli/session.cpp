#include "cli/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <thread>

#include "base/json_codec.h"
#include "cli/named_paths.h"
#include "config/chip_file.h"
#include "config/gpu_chip.h"
#include "core/device_name.h"
#include "core/machine_fields.h"

namespace warpwright::cli {
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
  // Not canonical(): after an upgrade the running program's file no longer exists ("/usr/bin/warpwright (deleted)"),
  // but its folder does.
  return fs::read_symlink("/proc/self/exe", error).parent_path() / name;
}

// The line that the worker prints for an option.
Result<std::string> QueryWorker(const CommonOptions& options, const std::vector<std::string>& question) {
  base::Command command;
  command.argv = WorkerArguments(options);
  command.argv.insert(command.argv.end(), question.begin(), question.end());
  command.env = worker::WorkerEnvironment();
  WW_ASSIGN(const base::Completed done, base::Run(command));
  if (done.exit_code != 0) {  // it prints an Error as Format writes it
    const std::string text = done.err.substr(0, done.err.find_last_not_of('\n') + 1);
    constexpr std::string_view kRemedy = "\n  remedy: ";
    const size_t remedy = text.rfind(kRemedy);
    return Fail(ErrorCode::kEnvironment, text.empty() ? "the worker failed to start" : text.substr(0, remedy),
                remedy == std::string::npos ? "" : text.substr(remedy + kRemedy.size()));
  }
  return done.out.substr(0, done.out.find('\n'));
}

Result<core::GpuFacts> QueryGpu(const CommonOptions& options) {
  WW_ASSIGN(const std::string answer, QueryWorker(options, {"--describe-gpu", options.device}));
  auto facts = base::DecodeJson<core::GpuFacts>(answer);
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
  if (core::DeviceName::Parse(device)) return {};
  return Fail(ErrorCode::kUsage, "unknown device '" + device + "'", "use cuda, cuda:1, " + config::SimulatedDevices());
}

Result<repo::Repository> OpenRepository(const std::string& path) {
  auto repository = repo::Repository::Open(path);
  if (repository || repository.error().message.find("owned by") != std::string::npos) return repository;
  Error error = repository.error();  // no repository there: the user's mistake
  if (error.code == ErrorCode::kIo) error.code = ErrorCode::kUsage;
  return Fail(std::move(error));
}

Result<Session> Session::Open(const CommonOptions& options) {
  WW_TRY(CheckDeviceName(options.device));
  const bool simulated = core::IsSimulated(options.device);
  WW_ASSIGN(repo::Repository repository, OpenRepository(options.repo));
  app::TargetDevice device{.name = options.device, .chip = {}, .gpu = {}};
  if (simulated) {
    WW_ASSIGN(device.chip, config::LoadChip(options.device.substr(4)));
  }
  const fs::path state =
      fs::absolute(options.state.empty() ? repository.common_directory() / "warpwright" : fs::path(options.state));
  for (const auto& folder : {state, CacheFolder(options)}) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
      return Fail(ErrorCode::kEnvironment, "create " + folder.string() + ": " + error.message(),
                  "pass another folder with --state or --cache");
  }
  if (!simulated) {
    WW_ASSIGN(device.gpu, QueryGpu(options));
    WW_ASSIGN(device.chip, config::ChipOf(*device.gpu));
  }
  return Session(options, app::Workspace(std::move(repository), state, std::move(device), options.kernels));
}

worker::WorkerCommand Session::Worker() const {
  const repo::Repository& repository = workspace_.repository();
  worker::WorkerCommand command;
  command.argv = WorkerArguments(options_);
  command.argv.insert(command.argv.end(), {"--readable", workspace_.state().string()});
  if (!repository.bare())
    command.argv.insert(command.argv.end(), {"--readable", fs::absolute(repository.root()).string()});
  if (workspace_.device().gpu) command.argv.emplace_back("--gpu");
  command.log = workspace_.state() / "worker.log";
  return command;
}

app::ToolchainSource Session::Toolchain() const {
  return [options = options_] { return QueryWorker(options, {"--toolchain"}); };
}
app::SkillsSource Session::Skills() const {
  return [options = options_] { return LoadSkillsOf(options); };
}
memory::JsonLinesStore Session::Experiences() const {
  return memory::JsonLinesStore(workspace_.experience_file(),
                                {workspace_.repository().root() / ".warpwright/experience.jsonl"});
}

core::ProcessSource Session::Another(base::Deadline* deadline) const {
  constexpr unsigned kManyCores = 4;
  if (std::thread::hardware_concurrency() < kManyCores) return {};
  return [command = Worker(), deadline]() -> Result<core::OtherProcess> {
    auto worker = std::make_unique<worker::WorkerEvaluator>(command);
    if (deadline != nullptr) worker->SetDeadline(*deadline);
    WW_TRY(worker->Begin());
    worker::WorkerEvaluator& evaluator = *worker;
    return core::OtherProcess{std::move(worker), [&evaluator] { evaluator.Abandon(); }};
  };
}

app::RestartableEvaluator Restartable(worker::WorkerEvaluator& worker) {
  return {worker, [&worker] { worker.Restart(); }};
}

Result<base::Completed> QueryMachine(const CommonOptions& options, const std::vector<std::string>& question) {
  base::Command command;
  command.argv = WorkerArguments(options);
  command.argv.insert(command.argv.end(), question.begin(), question.end());
  command.env = worker::WorkerEnvironment();
  command.deadline = std::chrono::seconds(90);
  return base::Run(command);
}

Result<skills::SkillLibrary> LoadSkillsOf(const CommonOptions& options) {
  if (options.skills.empty()) return skills::LoadBuiltInSkills();
  WW_TRY(CheckNamedFolder("--skills", options.skills));
  return skills::LoadSkills(options.skills);
}

}  // namespace warpwright::cli
