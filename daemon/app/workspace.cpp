#include "app/workspace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>

#include "base/file.h"
#include "config/manifest.h"

namespace warpwright::app {
namespace {

namespace fs = std::filesystem;
constexpr size_t kKeptTrees = 8;

}  // namespace

bool Workspace::IsWanted(const std::string& kernel) const {
  return kernels_.empty() || std::find(kernels_.begin(), kernels_.end(), kernel) != kernels_.end();
}

// Also those of the wanted kernels that wait for an answer.
Result<core::Manifest> Workspace::Select(core::Manifest manifest) const {
  std::vector<std::string> names;
  for (const auto& kernel : manifest.kernels) names.push_back(kernel.name);
  for (const auto& waiting : manifest.unanswered) names.push_back(waiting.name);
  for (const auto& wanted : kernels_)
    if (std::find(names.begin(), names.end(), wanted) == names.end())
      return Fail(ErrorCode::kUsage, "the manifest has no kernel '" + wanted + "'",
                  fmt::format("it has: {}", fmt::join(names, ", ")));
  std::erase_if(manifest.unanswered, [&](const core::UnansweredKernel& k) { return !IsWanted(k.name); });
  std::erase_if(manifest.kernels, [&](const core::KernelSpec& k) { return !IsWanted(k.name); });
  return manifest;
}

Result<core::Manifest> Workspace::SelectAnswered(core::Manifest manifest) const {
  WW_ASSIGN(core::Manifest selected, Select(std::move(manifest)));
  if (!kernels_.empty() && !selected.unanswered.empty()) return Fail(selected.unanswered.front().question);
  return selected;
}

Result<core::Manifest> Workspace::ManifestAt(const std::string& commit) const {
  WW_ASSIGN(const auto text, repository_.Read(commit, std::string(config::kManifestName)));
  if (!text)
    return Fail(ErrorCode::kConfig, "no .warpwright.yml in commit " + commit.substr(0, 12),
                "write one with `warpwright init`, answer its questions, and commit it");
  WW_ASSIGN(core::Manifest manifest, config::ParseManifest(*text, std::string(config::kManifestName)));
  return SelectAnswered(std::move(manifest));
}

Result<core::Manifest> Workspace::ManifestOfWorkingTree() const {
  if (repository_.bare())
    return Fail(ErrorCode::kUsage, "a bare repository has no working tree", "use `optimize`, which works on commits");
  WW_ASSIGN(core::Manifest manifest, config::LoadManifest(repository_.root()));
  return SelectAnswered(std::move(manifest));
}

Result<core::Manifest> Workspace::ManifestWithQuestions() const {
  WW_ASSIGN(core::Manifest manifest, config::LoadManifest(repository_.root(), config::Unanswered::kList));
  return Select(std::move(manifest));
}

fs::path Workspace::CompleteMark(const std::string& commit) const { return state_ / "trees" / (commit + ".complete"); }

bool Workspace::HasTree(const std::string& commit) const {
  std::error_code error;
  return fs::exists(CompleteMark(commit), error);
}

Result<fs::path> Workspace::ExportTree(const std::string& commit) const {
  const fs::path tree = state_ / "trees" / commit;
  if (UseTree(commit)) return tree;
  WW_TRY(repository_.Export(commit, IsSource, tree));
  WW_TRY(base::WriteFileAtomically(CompleteMark(commit), ""));
  if (!UseTree(commit)) return Fail(ErrorCode::kIo, "the sources in " + tree.string() + " disappeared");
  SweepTrees();
  return tree;
}

// Locks the tree against SweepTrees of other processes. False: there is none, or it is just being removed.
bool Workspace::UseTree(const std::string& commit) const {
  const fs::path mark = CompleteMark(commit);
  base::Fd lock(::open(mark.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!lock.valid() || ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 || !HasTree(commit)) return false;
  ::futimens(lock.get(), nullptr);
  used_trees_.push_back(std::move(lock));
  return true;
}

void Workspace::SweepTrees() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> marks;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(state_ / "trees", error))
    if (entry.path().extension() == ".complete") marks.emplace_back(entry.last_write_time(error), entry.path());
  std::sort(marks.begin(), marks.end(), std::greater<>());
  for (size_t i = kKeptTrees; i < marks.size(); ++i) {
    const base::Fd lock(::open(marks[i].second.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (lock.valid() && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) RemoveTree(marks[i].second.stem().string());
  }
}

void Workspace::RemoveTree(const std::string& commit) const {
  std::error_code error;
  fs::remove(CompleteMark(commit), error);
  fs::remove_all(state_ / "trees" / commit, error);
}

Result<repo::Signature> AuthorOf(const repo::Repository& repository, const std::string& given) {
  if (!given.empty()) return repo::Signature::Parse(given);
  if (const auto configured = repository.Config("warpwright.author")) return repo::Signature::Parse(*configured);
  return repo::Signature{};
}

std::string DriverText(const core::GpuFacts& gpu) {
  return fmt::format("CUDA {}.{}", gpu.driver_version / 1000, gpu.driver_version % 1000 / 10);
}

bool IsSource(std::string_view path) {
  if (path == config::kManifestName || path.starts_with(".warpwright/")) return true;
  if (path.ends_with(".clang-format") || path.ends_with("_clang-format")) return true;  // the style of what is added
  for (const char* ending : {".cu", ".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".safetensors"})
    if (path.ends_with(ending)) return true;
  return false;
}

}  // namespace warpwright::app
