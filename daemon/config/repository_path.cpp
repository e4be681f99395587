#include "config/repository_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>

namespace warpwright::config {

namespace {

bool IsGitFolder(std::string_view part) {  // also on case-insensitive file systems
  std::string lower(part);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return lower == ".git" || lower == "git~1";
}

tl::unexpected<Error> Refuse(std::string_view path, std::string_view why) {
  return Fail(ErrorCode::kConfig, fmt::format("the path '{}' {}", path.substr(0, 200), why),
              "name a file below the repository's root, such as kernels/softmax.cu");
}

}  // namespace

Status CheckRepositoryPath(std::string_view path) {
  if (path.empty()) return Refuse(path, "is empty");
  if (path.size() > 1000) return Refuse(path, "is longer than 1,000 characters");
  if (path[0] == '/') return Refuse(path, "is absolute");
  for (unsigned char c : path)
    if (c < 0x20 || c == 0x7f || c == '\\') return Refuse(path, "holds a control character or a backslash");
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find('/', begin), path.size());
    std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == ".") return Refuse(path, "has an empty or '.' part");
    if (part == "..") return Refuse(path, "leaves the repository ('..')");
    if (IsGitFolder(part)) return Refuse(path, "leads into .git");
    begin = end + 1;
  }
  return {};
}

Status CheckRepositoryFile(const std::filesystem::path& root, std::string_view path) {
  WW_TRY(CheckRepositoryPath(path));
  std::filesystem::path current = root;
  std::filesystem::file_status status;
  for (const auto& part : std::filesystem::path(path)) {
    current /= part;
    std::error_code code;
    status = std::filesystem::symlink_status(current, code);
    if (status.type() == std::filesystem::file_type::symlink) return Refuse(path, "goes through a symbolic link");
    if (!std::filesystem::exists(status)) return Refuse(path, "does not exist in the repository");
  }
  if (!std::filesystem::is_regular_file(status)) return Refuse(path, "is not a regular file");
  return {};
}

}  // namespace warpwright::config
