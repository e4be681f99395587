#include "worker/cache_trim.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::worker {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::file_time_type time;
  fs::path path;
};

// Newest first.
std::vector<Folder> FoldersNamed(const fs::path& cache, std::string_view prefix) {
  std::vector<Folder> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(cache, error)) {
    std::error_code ignored;
    if (entry.path().filename().string().starts_with(prefix) && entry.is_directory(ignored))
      folders.push_back({entry.last_write_time(ignored), entry.path()});
  }
  std::sort(folders.begin(), folders.end(), [](const Folder& a, const Folder& b) { return a.time > b.time; });
  return folders;
}

void Keep(size_t count, const fs::path& cache, std::string_view prefix, fs::file_time_type young) {
  const auto folders = FoldersNamed(cache, prefix);
  for (size_t i = count; i < folders.size(); ++i) {
    std::error_code ignored;
    if (folders[i].time < young) fs::remove_all(folders[i].path, ignored);
  }
}

}  // namespace

void TrimCache(const fs::path& cache, const CacheLimits& limits) {
  const auto young = fs::file_time_type::clock::now() - limits.grace;
  Keep(limits.recorders, cache, "recorder-", young);
  Keep(limits.shims, cache, "shim-", young);
  Keep(0, cache, "making-", young);
}

}  // namespace warpwright::worker
