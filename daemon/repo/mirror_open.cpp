// How a mirror is created (next to its final path, then renamed, so that a kill leaves a complete one or none) and how
// it stays small.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

#include "base/fd.h"
#include "base/subprocess.h"
#include "repo/git_handle.h"
#include "repo/remote.h"
#include "repo/remote_url.h"

namespace warpwright::repo {
namespace {

namespace fs = std::filesystem;

// Removes folders and partial packs that killed processes left. Nothing that is still being written is that old.
void RemoveLeftOvers(const fs::path& folder, std::chrono::minutes age, bool (*is_left_over)(const std::string&)) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    const auto written = fs::last_write_time(entry.path(), ignored);
    if (!ignored && is_left_over(entry.path().filename().string()) && fs::file_time_type::clock::now() - written > age)
      fs::remove_all(entry.path(), ignored);
  }
}

Status Make(const fs::path& path) {
  static std::atomic<int> count{0};
  std::error_code error;
  const fs::path parent = path.parent_path();
  fs::create_directories(parent, error);
  RemoveLeftOvers(parent, std::chrono::minutes(1),
                  [](const std::string& name) { return name.starts_with(".new-mirror-"); });
  const fs::path fresh = parent / fmt::format(".new-mirror-{}-{}", ::getpid(), count++);
  git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
  options.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH | GIT_REPOSITORY_INIT_NO_REINIT;
  {
    GitRepository made;
    if (git_repository_init_ext(made.out(), fresh.c_str(), &options) != 0)
      return FailGit("make a mirror in " + parent.string());
  }
  // Once in a mirror's life: a power cut must not leave the name without its contents.
  if (const base::Fd folder(::open(fresh.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      !folder.valid() || ::syncfs(folder.get()) != 0)
    return FailErrno("sync " + fresh.string());
  fs::rename(fresh, path, error);
  if (!error) return {};
  std::error_code ignored;
  fs::remove_all(fresh, ignored);
  if (fs::exists(path / "HEAD", ignored)) return {};  // another thread was faster
  return Fail(ErrorCode::kIo, fmt::format("rename {} to {}: {}", fresh.string(), path.string(), error.message()));
}

}  // namespace

Result<Mirror> Mirror::Open(const fs::path& path, RemoteAddress remote, Signature us) {
  StartGit();
  WW_TRY(ParseRemoteUrl(remote.url));
  std::error_code error;
  if (fs::exists(path, error)) {
    git_repository* raw = nullptr;
    const int code = git_repository_open_bare(&raw, path.c_str());
    git_repository_free(raw);
    const git_error* last = git_error_last();
    const bool owner =
        code != 0 && last != nullptr && std::string_view(last->message).find("owned by") != std::string_view::npos;
    if (code != 0 && !owner) {
      const fs::path aside = path.string() + ".broken";
      fs::remove_all(aside, error);
      fs::rename(path, aside, error);
      if (error)
        return Fail(ErrorCode::kIo, fmt::format("move the broken mirror {} aside: {}", path.string(), error.message()));
    }
  }
  if (!fs::exists(path, error)) WW_TRY(Make(path));
  RemoveLeftOvers(path / "objects/pack", std::chrono::minutes(24 * 60),
                  [](const std::string& name) { return name.find('.') == std::string::npos; });
  WW_ASSIGN(Repository repository, Repository::Open(path));
  return Mirror(std::move(repository), std::move(remote), std::move(us));
}

Status Mirror::CollectGarbage(size_t packs_at_most) {
  const fs::path path = repository_.common_directory();
  size_t packs = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path / "objects/pack", error))
    packs += entry.path().extension() == ".pack" ? 1 : 0;
  if (packs <= packs_at_most) return {};
  base::Command command;
  command.argv = {"git", "-c",     "gc.pruneExpire=3.months.ago", "-c", "pack.threads=1", "--git-dir", path.string(),
                  "gc",  "--quiet"};
  command.env = base::MinimalEnvironment();
  command.deadline = std::chrono::minutes(10);
  const auto done = base::Run(command);  // exits if another one is already running
  if (!done) return {};                  // no git program: everything works, but slower
  if (done->exit_code != 0 && done->exit_code != 127 && done->err.find("already running") == std::string::npos)
    return Fail(ErrorCode::kIo, "git gc in " + path.string() + ": " + done->err.substr(0, 300));
  return {};
}

}  // namespace warpwright::repo
