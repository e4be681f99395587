// What every use case works on: a repository, its warpwright state folder, and the target device.
//
//   <state>/trajectory.sqlite   short-term memory
//   <state>/experience.jsonl    what was learned here
//   <state>/trees/<commit>/     exported sources of a revision
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "core/chip.h"
#include "core/evaluator.h"
#include "core/kernel_spec.h"
#include "memory/trajectory.h"
#include "repo/repository.h"
#include "skills/library.h"

namespace warpwright::app {

struct TargetDevice {
  std::string name;  // "sim:h200", "cuda:1"
  core::Chip chip;
  std::optional<core::GpuFacts> gpu;  // if it is a GPU
};

// Both are queried only when needed: much works on a machine without a toolkit.
using ToolchainSource = std::function<Result<std::string>()>;  // "NVRTC 13.0"; the Error names what is missing
using SkillsSource = std::function<Result<skills::SkillLibrary>()>;

class Workspace {
 public:
  // `state` exists. `kernels`: only these of a manifest; none: all.
  Workspace(repo::Repository repository, std::filesystem::path state, TargetDevice device,
            std::vector<std::string> kernels)
      : repository_(std::move(repository)),
        state_(std::move(state)),
        device_(std::move(device)),
        kernels_(std::move(kernels)) {}

  repo::Repository& repository() { return repository_; }
  const repo::Repository& repository() const { return repository_; }
  const std::filesystem::path& state() const { return state_; }
  const TargetDevice& device() const { return device_; }

  // The manifest of a commit, or of the working tree, with the wanted kernels.
  Result<core::Manifest> ManifestAt(const std::string& commit) const;
  Result<core::Manifest> ManifestOfWorkingTree() const;
  // The same for whoever tells of kernels that wait for an answer: they are among the manifest's unanswered ones, and
  // no error.
  Result<core::Manifest> ManifestWithQuestions() const;
  // The sources of a commit below the state folder, written only once. While this workspace lives the tree stays; of
  // those that no workspace uses, the eight that were used last stay.
  Result<std::filesystem::path> ExportTree(const std::string& commit) const;
  bool HasTree(const std::string& commit) const;
  void RemoveTree(const std::string& commit) const;

  std::filesystem::path trajectory_file() const { return state_ / "trajectory.sqlite"; }
  Result<memory::Trajectory> OpenTrajectory() const { return memory::Trajectory::Open(trajectory_file()); }
  std::filesystem::path experience_file() const { return state_ / "experience.jsonl"; }

 private:
  Result<core::Manifest> Select(core::Manifest manifest) const;
  Result<core::Manifest> SelectAnswered(core::Manifest manifest) const;
  bool IsWanted(const std::string& kernel) const;
  std::filesystem::path CompleteMark(const std::string& commit) const;
  bool UseTree(const std::string& commit) const;
  void SweepTrees() const;

  repo::Repository repository_;
  std::filesystem::path state_;
  TargetDevice device_;
  std::vector<std::string> kernels_;
  mutable std::vector<base::Fd> used_trees_;  // locks on their marks
};

// Author of commits: "Name <mail>" as given, else the repository's warpwright.author, else warpwright.
Result<repo::Signature> AuthorOf(const repo::Repository& repository, const std::string& given = {});
// "CUDA 13.0".
std::string DriverText(const core::GpuFacts& gpu);
// Files that kernels can be built from, and the contents of .warpwright/.
bool IsSource(std::string_view path);

}  // namespace warpwright::app
