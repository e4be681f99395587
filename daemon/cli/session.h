// What every command that works on a repository needs: the repository, where state and caches live, the workers, the skills.
//
//   <git directory>/warpwright/trajectory.sqlite   short-term memory
//   <git directory>/warpwright/experience.jsonl    what was learned here
//   <git directory>/warpwright/trees/<commit>/     exported sources of a revision
//   $XDG_CACHE_HOME/warpwright/                    compiled modules and recorders, by content
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/chip.h"
#include "core/kernel_spec.h"
#include "memory/experience.h"
#include "memory/trajectory.h"
#include "repo/repository.h"
#include "skills/library.h"
#include "worker/worker_evaluator.h"

namespace warpwright {

struct CommonOptions {
  std::string repo = ".";
  std::string device = "sim:h200";
  std::vector<std::string> kernels;   // empty: all
  std::string skills;                 // folder; empty: built in
  std::string state;                  // folder; empty: below the git directory
  std::string cache;
  std::string worker;                 // command line; empty: warpwright-worker beside this program
  bool json = false;
  bool quiet = false;
};

class Session {
 public:
  static Result<Session> Open(const CommonOptions& options);

  const CommonOptions& options() const { return options_; }
  Repository& repository() { return repository_; }
  const Chip& chip() const { return chip_; }
  const std::optional<GpuFacts>& gpu() const { return gpu_; }  // where the device is one
  const std::filesystem::path& state() const { return state_; }

  // The manifest of a commit, or of the working tree; restricted to --kernel.
  Result<Manifest> ManifestAt(const std::string& commit) const;
  Result<Manifest> ManifestOfWorkingTree() const;
  // The sources of a commit below the state folder, written once.
  Result<std::filesystem::path> ExportTree(const std::string& commit) const;
  // The kernel's file, as it stands below `root`.
  static Result<SourceRef> Source(const std::filesystem::path& root, const std::string& file);

  WorkerCommand Worker() const;
  WorkerEvaluator MakeWorker() const { return WorkerEvaluator(Worker()); }
  // "NVRTC 13.0", from the worker; an Error says what it lacks.
  Result<std::string> Toolchain() const;
  Result<SkillLibrary> Skills() const;
  Result<Trajectory> OpenTrajectory() const;
  JsonLinesStore Experiences() const;

 private:
  Session(CommonOptions options, Repository repository) : options_(std::move(options)), repository_(std::move(repository)) {}
  Result<Manifest> Select(Manifest manifest) const;
  // The line that the worker answers an option with.
  Result<std::string> AskWorker(const std::vector<std::string>& question) const;
  Result<GpuFacts> AskForGpu() const;

  CommonOptions options_;
  Repository repository_;
  Chip chip_;
  std::optional<GpuFacts> gpu_;
  std::filesystem::path state_;
};

std::filesystem::path CacheFolder(const CommonOptions& options);
// The worker's command line, with its --cache.
std::vector<std::string> WorkerArguments(const CommonOptions& options);
// Of commits: the repository's warpwright.author, else warpwright.
Result<Signature> ConfiguredAuthor(const Repository& repository);
// kUsage where it names no kind of device.
Status CheckDeviceName(const std::string& device);

// Files that kernels can be made of, and what .warpwright/ holds.
bool IsSource(std::string_view path);

}  // namespace warpwright
