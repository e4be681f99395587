#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

#include "base/fd.h"

namespace warpwright::base {
namespace {

Status WriteAll(int fd, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return FailErrno("write " + path.string());
    }
    content.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace

Result<std::string> ReadFile(const std::filesystem::path& path, uint64_t limit_bytes) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return FailErrno("open " + path.string());
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return FailErrno("stat " + path.string());
  if (!S_ISREG(info.st_mode)) return Fail(ErrorCode::kIo, path.string() + " is not a regular file");
  if (static_cast<uint64_t>(info.st_size) > limit_bytes)
    return Fail(ErrorCode::kIo, path.string() + " has " + std::to_string(info.st_size) +
                                    " bytes, more than the limit of " + std::to_string(limit_bytes));
  std::string content(static_cast<size_t>(info.st_size), '\0');
  size_t size = 0;
  while (size < content.size()) {
    const ssize_t got = ::read(fd.get(), content.data() + size, content.size() - size);
    if (got < 0) {
      if (errno == EINTR) continue;
      return FailErrno("read " + path.string());
    }
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  content.resize(size);
  return content;
}

Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) return Fail(ErrorCode::kIo, "create " + path.parent_path().string() + ": " + error.message());
  std::string temporary = path.string() + ".XXXXXX";
  Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return FailErrno("create a file next to " + path.string());
  Status status = WriteAll(fd.get(), content, path);
  if (status && ::fchmod(fd.get(), 0644) != 0) status = FailErrno("chmod " + temporary);
  if (status && ::fsync(fd.get()) != 0) status = FailErrno("fsync " + temporary);
  if (status && ::rename(temporary.c_str(), path.c_str()) != 0) status = FailErrno("rename to " + path.string());
  if (!status) ::unlink(temporary.c_str());
  return status;
}

Status AppendLine(const std::filesystem::path& path, std::string_view line) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd.valid()) return FailErrno("open " + path.string());
  return WriteAll(fd.get(), std::string(line) + "\n", path);
}

Result<TemporaryDirectory> TemporaryDirectory::Create(std::string_view prefix) {
  const char* root = std::getenv("TMPDIR");
  std::string path =
      std::string(root != nullptr && *root != '\0' ? root : "/tmp") + "/" + std::string(prefix) + ".XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return FailErrno("mkdtemp " + path);
  return TemporaryDirectory(path);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace warpwright::base
