#include "base/file_below.h"

#include <algorithm>

#include "base/file.h"

namespace warpwright::base {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> NotOfTheTree(const fs::path& root, const fs::path& file, const std::string& why) {
  return Fail(ErrorCode::kConfig, file.string() + " below " + root.string() + " " + why);
}

bool LeavesByName(const fs::path& file) {
  return file.is_absolute() || std::find(file.begin(), file.end(), "..") != file.end();
}

}  // namespace

Result<std::string> ReadFileBelow(const fs::path& root, const fs::path& file, uint64_t limit_bytes) {
  if (LeavesByName(file)) return NotOfTheTree(root, file, "is not named as a file of it");
  std::error_code failed;
  const fs::path real_root = fs::canonical(root, failed);
  const fs::path real = failed ? fs::path() : fs::canonical(root / file, failed);
  if (failed) return Fail(ErrorCode::kIo, "open " + (root / file).string() + ": " + failed.message());
  const fs::path within = real.lexically_relative(real_root);
  if (within.empty() || *within.begin() == "..")
    return NotOfTheTree(root, file, "is a link that leads out of it, to " + real.string());
  if (!fs::is_regular_file(fs::symlink_status(real, failed))) return NotOfTheTree(root, file, "is not a regular file");
  return ReadFile(real, limit_bytes);
}

Status WriteFileBelow(const fs::path& root, const fs::path& file, std::string_view content) {
  if (LeavesByName(file)) return NotOfTheTree(root, file, "is not named as a file of it");
  fs::path at = root;
  for (const fs::path& part : file) {
    at /= part;
    std::error_code missing;
    if (fs::is_symlink(fs::symlink_status(at, missing)))
      return NotOfTheTree(root, file, "is not written: " + at.string() + " is a symbolic link");
  }
  return WriteFileAtomically(root / file, content);
}

}  // namespace warpwright::base
