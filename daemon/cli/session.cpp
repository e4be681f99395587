#include "cli/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/file.h"
#include "base/json_codec.h"
#include "config/chip_file.h"
#include "config/gpu_chip.h"
#include "config/manifest.h"
#include "core/machine_fields.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kMaxSourceBytes = 8u << 20;

fs::path DefaultCache() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/') return fs::path(xdg) / "warpwright";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') return fs::path(home) / ".cache/warpwright";
  return fs::temp_directory_path() / fmt::format("warpwright-{}", ::getuid());
}

fs::path BesideThisProgram(const char* name) {
  std::error_code error;
  // Not canonical(): after an upgrade the running program's file is gone ("/usr/bin/warpwright (deleted)"), its folder is not.
  return fs::read_symlink("/proc/self/exe", error).parent_path() / name;
}

}  // namespace

fs::path CacheFolder(const CommonOptions& options) { return fs::absolute(options.cache.empty() ? DefaultCache() : fs::path(options.cache)); }

std::vector<std::string> WorkerArguments(const CommonOptions& options) {
  std::vector<std::string> argv;
  std::istringstream words(options.worker);
  for (std::string word; words >> word;) argv.push_back(word);
  if (argv.empty()) argv.push_back(BesideThisProgram("warpwright-worker").string());
  argv.insert(argv.end(), {"--cache", CacheFolder(options).string()});
  return argv;
}

Result<Signature> ConfiguredAuthor(const Repository& repository) {
  if (const auto configured = repository.Config("warpwright.author")) return Signature::Parse(*configured);
  return Signature{};
}

Status CheckDeviceName(const std::string& device) {
  if (device.starts_with("sim:") || device == "cuda" || device.starts_with("cuda:")) return {};
  return Fail(ErrorCode::kUsage, "unknown device '" + device + "'", fmt::format("use cuda, cuda:1 or one of sim:{}", fmt::join(ChipIds(), ", sim:")));
}

bool IsSource(std::string_view path) {
  if (path == ".warpwright.yml" || path.rfind(".warpwright/", 0) == 0) return true;
  for (const char* ending : {".cu", ".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".safetensors"})
    if (path.ends_with(ending)) return true;
  return false;
}

Result<Session> Session::Open(const CommonOptions& options) {
  WW_TRY(CheckDeviceName(options.device));
  const bool simulated = options.device.starts_with("sim:"), gpu = !simulated;
  WW_ASSIGN(Repository repository, Repository::Open(options.repo));
  Session session(options, std::move(repository));
  if (simulated) {
    WW_ASSIGN(session.chip_, LoadChip(options.device.substr(4)));
  }
  session.state_ = fs::absolute(options.state.empty() ? session.repository_.common_directory() / "warpwright" : fs::path(options.state));
  for (const auto& folder : {session.state_, CacheFolder(options)}) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return Fail(ErrorCode::kEnvironment, "create " + folder.string() + ": " + error.message(), "name another folder with --state or --cache");
  }
  if (gpu) {
    WW_ASSIGN(session.gpu_, session.AskForGpu());
    WW_ASSIGN(session.chip_, ChipOf(*session.gpu_));
  }
  return session;
}

Result<Manifest> Session::Select(Manifest manifest) const {
  for (const auto& wanted : options_.kernels)
    if (std::none_of(manifest.kernels.begin(), manifest.kernels.end(), [&](const KernelSpec& k) { return k.name == wanted; })) {
      std::vector<std::string> names;
      for (const auto& kernel : manifest.kernels) names.push_back(kernel.name);
      return Fail(ErrorCode::kUsage, "the manifest has no kernel '" + wanted + "'", fmt::format("it has: {}", fmt::join(names, ", ")));
    }
  if (!options_.kernels.empty())
    std::erase_if(manifest.kernels, [&](const KernelSpec& k) {
      return std::find(options_.kernels.begin(), options_.kernels.end(), k.name) == options_.kernels.end();
    });
  return manifest;
}

Result<Manifest> Session::ManifestAt(const std::string& commit) const {
  WW_ASSIGN(const auto text, repository_.Read(commit, ".warpwright.yml"));
  if (!text)
    return Fail(ErrorCode::kConfig, "there is no .warpwright.yml in commit " + commit.substr(0, 12), "write one with `warpwright init`, answer its questions, and commit it");
  WW_ASSIGN(Manifest manifest, ParseManifest(*text, ".warpwright.yml"));
  return Select(std::move(manifest));
}

Result<Manifest> Session::ManifestOfWorkingTree() const {
  if (repository_.bare()) return Fail(ErrorCode::kUsage, "a bare repository has no working tree", "use `optimize`, which works on commits");
  WW_ASSIGN(Manifest manifest, LoadManifest(repository_.root()));
  return Select(std::move(manifest));
}

Result<fs::path> Session::ExportTree(const std::string& commit) const {
  const fs::path tree = state_ / "trees" / commit;
  const fs::path complete = state_ / "trees" / (commit + ".complete");
  std::error_code error;
  if (fs::exists(complete, error)) return tree;
  WW_TRY(repository_.Export(commit, IsSource, tree));
  WW_TRY(WriteFileAtomically(complete, ""));
  return tree;
}

Result<SourceRef> Session::Source(const fs::path& root, const std::string& file) {
  WW_ASSIGN(std::string text, ReadFile(root / file, kMaxSourceBytes));
  return SourceRef{root.string(), file, std::move(text)};
}

WorkerCommand Session::Worker() const {
  WorkerCommand command;
  command.argv = WorkerArguments(options_);
  command.argv.insert(command.argv.end(), {"--readable", state_.string()});
  if (!repository_.bare()) command.argv.insert(command.argv.end(), {"--readable", fs::absolute(repository_.root()).string()});
  if (gpu_) command.argv.emplace_back("--gpu");
  command.log = state_ / "worker.log";
  return command;
}

Result<std::string> Session::AskWorker(const std::vector<std::string>& question) const {
  Command command;
  command.argv = WorkerArguments(options_);
  command.argv.insert(command.argv.end(), question.begin(), question.end());
  command.env = WorkerEnvironment();
  WW_ASSIGN(const Completed done, Run(command));
  if (done.exit_code != 0) return Fail(ErrorCode::kEnvironment, done.err.empty() ? "the worker does not start" : done.err.substr(0, done.err.find_last_not_of('\n') + 1));
  return done.out.substr(0, done.out.find('\n'));
}

Result<std::string> Session::Toolchain() const { return AskWorker({"--toolchain"}); }

Result<GpuFacts> Session::AskForGpu() const {
  WW_ASSIGN(const std::string answer, AskWorker({"--describe-gpu", options_.device}));
  auto facts = DecodeJson<GpuFacts>(answer);
  if (!facts) return Fail(ErrorCode::kCorrupt, "the worker's description of the GPU does not decode: " + facts.error().message);
  return facts;
}

Result<SkillLibrary> Session::Skills() const { return options_.skills.empty() ? LoadBuiltInSkills() : LoadSkills(options_.skills); }
Result<Trajectory> Session::OpenTrajectory() const { return Trajectory::Open(state_ / "trajectory.sqlite"); }
JsonLinesStore Session::Experiences() const { return JsonLinesStore(state_ / "experience.jsonl", {repository_.root() / ".warpwright/experience.jsonl"}); }

}  // namespace warpwright
