// Detects, through inotify, that refs of local repositories may have moved. This is only a hint: which refs moved is
// found by comparing them. Repositories that do not exist yet, or for which the system has no watches left, simply give
// no hints.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace warpwright::repo {

class RefFileMonitor {
 public:
  static Result<RefFileMonitor> Create();

  // Watches HEAD, packed-refs and everything below refs/heads of the repository at `path` (bare, with a working tree,
  // or a linked one), replacing what was watched under this name. Cheap if all is watched already. False: it cannot be
  // watched now.
  bool Watch(const std::string& name, const std::filesystem::path& path);
  void Forget(const std::string& name);
  bool Watches(const std::string& name) const;

  int fd() const { return inotify_.get(); }  // readable: Read
  struct Changes {
    std::set<std::string> names;
    bool overflow = false;  // some events were lost: any repository may have changed
  };
  Changes Read();

 private:
  explicit RefFileMonitor(base::Fd inotify) : inotify_(std::move(inotify)) {}
  enum class Kind { kGitDirectory, kRefs };
  struct WatchEntry {
    std::string name;
    std::filesystem::path path;
    Kind kind = Kind::kRefs;
  };
  bool Add(const std::string& name, const std::filesystem::path& folder, Kind kind);
  bool AddRefs(const std::string& name, const std::filesystem::path& folder);

  base::Fd inotify_;
  std::map<int, WatchEntry> by_watch_;
  std::map<std::string, std::set<int>> by_name_;
};

}  // namespace warpwright::repo
