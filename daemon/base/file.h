// Whole files. Writing is atomic: the new content either replaces the old one completely (synced, then renamed) or not
// at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpwright::base {

// Refuses files larger than `limit_bytes` and anything that is not a regular file.
Result<std::string> ReadFile(const std::filesystem::path& path, uint64_t limit_bytes = 64u << 20);

// Creates missing parent folders.
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content);

// Appends `line` and a newline with one write to a file opened with O_APPEND, so that lines of concurrent writers do
// not interleave.
Status AppendLine(const std::filesystem::path& path, std::string_view line);

// A new folder below the system's temporary folder, removed with its content by the destructor.
class TemporaryDirectory {
 public:
  static Result<TemporaryDirectory> Create(std::string_view prefix);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace warpwright::base
