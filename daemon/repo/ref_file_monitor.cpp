#include "repo/ref_file_monitor.h"

#include <sys/inotify.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "repo/git_handle.h"

namespace warpwright::repo {
namespace {

namespace fs = std::filesystem;
// git writes a file next to the target and renames it; other programs may write in place.
constexpr uint32_t kEvents =
    IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr size_t kMaxFolders = 4096;  // of one repository's branches

}  // namespace

Result<RefFileMonitor> RefFileMonitor::Create() {
  base::Fd fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!fd.valid()) return FailErrno("inotify_init1");
  return RefFileMonitor(std::move(fd));
}

bool RefFileMonitor::Watches(const std::string& name) const { return by_name_.count(name) != 0; }

void RefFileMonitor::Forget(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return;
  for (const int watch : found->second) {
    ::inotify_rm_watch(inotify_.get(), watch);
    by_watch_.erase(watch);
  }
  by_name_.erase(found);
}

bool RefFileMonitor::Watch(const std::string& name, const fs::path& path) {
  if (Watches(name)) return true;
  StartGit();
  GitRepository repository;
  if (git_repository_open_ext(repository.out(), path.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr) != 0)
    return false;
  const fs::path common = git_repository_commondir(repository);
  if (Add(name, common, Kind::kGitDirectory) && AddRefs(name, common / "refs/heads")) return true;
  Forget(name);
  return false;
}

bool RefFileMonitor::Add(const std::string& name, const fs::path& folder, Kind kind) {
  if (by_name_[name].size() >= kMaxFolders) return false;
  const int watch = ::inotify_add_watch(inotify_.get(), folder.c_str(), kEvents);
  if (watch < 0) return false;
  // Two names for one repository share its watches; the later name is notified, the earlier one is polled.
  if (const auto other = by_watch_.find(watch); other != by_watch_.end() && other->second.name != name)
    by_name_[other->second.name].erase(watch);
  by_watch_[watch] = {name, folder, kind};
  by_name_[name].insert(watch);
  return true;
}

bool RefFileMonitor::AddRefs(const std::string& name, const fs::path& folder) {
  if (!Add(name, folder, Kind::kRefs)) return false;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored) && !AddRefs(name, entry.path())) return false;
  }
  return true;
}

RefFileMonitor::Changes RefFileMonitor::Read() {
  Changes noticed;
  std::set<std::string> broken;
  alignas(inotify_event) std::array<char, 16 << 10> buffer;
  for (ssize_t size = 0; (size = ::read(inotify_.get(), buffer.data(), buffer.size())) > 0;) {
    for (ssize_t at = 0; at + static_cast<ssize_t>(sizeof(inotify_event)) <= size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      noticed.overflow |= (event->mask & IN_Q_OVERFLOW) != 0;
      const auto found = by_watch_.find(event->wd);
      if (found == by_watch_.end()) continue;
      const WatchEntry watched = found->second;
      const std::string_view file = event->len > 0 ? std::string_view(event->name) : std::string_view();
      if (watched.kind == Kind::kGitDirectory) {
        // The index, logs and objects change all the time and have no bearing on branches.
        if (file == "HEAD" || file == "packed-refs" || file == "refs") noticed.names.insert(watched.name);
        if (file == "refs" || (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0)
          broken.insert(watched.name);
        continue;
      }
      if (file.ends_with(".lock")) continue;
      noticed.names.insert(watched.name);
      // A branch may be created in a new folder before the folder is watched: the folder itself reports it.
      if ((event->mask & IN_ISDIR) != 0 && (event->mask & (IN_CREATE | IN_MOVED_TO)) != 0 &&
          !AddRefs(watched.name, watched.path / file)) {
        std::error_code ignored;
        if (fs::exists(watched.path / file, ignored)) broken.insert(watched.name);
      }
      if ((event->mask & IN_IGNORED) != 0) {
        by_watch_.erase(event->wd);
        if (const auto of = by_name_.find(watched.name); of != by_name_.end()) of->second.erase(event->wd);
        // refs/heads itself: git recreates it when it needs it.
        if (watched.path.filename() == "heads" && watched.path.parent_path().filename() == "refs")
          broken.insert(watched.name);
      }
    }
  }
  // Watched again at the next poll, or when the repository is back.
  for (const auto& name : broken) {
    noticed.names.insert(name);
    Forget(name);
  }
  return noticed;
}

}  // namespace warpwright::repo
