#include "config/repository_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "config/yaml_reader.h"

namespace warpwright::config {

namespace {

bool IsGitFolder(std::string_view part) {  // also on case-insensitive file systems
  std::string lower(part);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return lower == ".git" || lower == "git~1";
}

constexpr std::string_view kFile = "name a file below the repository's root, such as kernels/softmax.cu",
                           kFolder = "name a folder below the repository's root, such as include";

tl::unexpected<Error> Refuse(std::string_view path, std::string_view why, std::string_view remedy) {
  return Fail(ErrorCode::kConfig, fmt::format("the path '{}' {}", path.substr(0, 200), why), std::string(remedy));
}

Status CheckName(std::string_view path, std::string_view remedy) {
  const auto refuse = [&](std::string_view why) -> Status { return Refuse(path, why, remedy); };
  if (path.empty()) return refuse("is empty");
  if (path.size() > 1000) return refuse("is longer than 1,000 characters");
  if (path[0] == '/') return refuse("is absolute");
  for (unsigned char c : path)
    if (c < 0x20 || c == 0x7f || c == '\\') return refuse("holds a control character or a backslash");
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find('/', begin), path.size());
    std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == ".") return refuse("has an empty or '.' part");
    if (part == "..") return refuse("leaves the repository ('..')");
    if (IsGitFolder(part)) return refuse("leads into .git");
    begin = end + 1;
  }
  return {};
}

// Of what is in the same folder, what is called nearly so; "" if nothing is.
std::string NearestBeside(const std::filesystem::path& missing) {
  constexpr size_t kMaxEntries = 1000;
  std::vector<std::string> names;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(missing.parent_path(), code))
    if (names.size() < kMaxEntries) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto nearest = NearestName(missing.filename().string(), views);
  return nearest ? (missing.parent_path() / *nearest).string() : "";
}

// root/path without symbolic links on the way.
Result<std::filesystem::file_status> Find(const std::filesystem::path& root, std::string_view path,
                                          std::string_view remedy) {
  std::filesystem::path current = root;
  std::filesystem::file_status status;
  for (const auto& part : std::filesystem::path(path)) {
    current /= part;
    std::error_code code;
    status = std::filesystem::symlink_status(current, code);
    if (status.type() == std::filesystem::file_type::symlink)
      return Refuse(path, "goes through a symbolic link", remedy);
    if (!std::filesystem::exists(status)) {
      const std::string nearest = NearestBeside(current);
      return Refuse(path, "does not exist in the repository",
                    nearest.empty() ? std::string(remedy)
                                    : fmt::format("'{}' does: did you mean that?",
                                                  std::filesystem::relative(nearest, root, code).generic_string()));
    }
  }
  return status;
}

}  // namespace

Status CheckRepositoryPath(std::string_view path) { return CheckName(path, kFile); }

Status CheckRepositoryFolderName(std::string_view path) { return path == "." ? Status() : CheckName(path, kFolder); }

Status CheckRepositoryFile(const std::filesystem::path& root, std::string_view path) {
  WW_TRY(CheckName(path, kFile));
  WW_ASSIGN(const std::filesystem::file_status status, Find(root, path, kFile));
  if (!std::filesystem::is_regular_file(status)) return Refuse(path, "is not a regular file", kFile);
  return {};
}

Status CheckRepositoryFolder(const std::filesystem::path& root, std::string_view path) {
  WW_TRY(CheckRepositoryFolderName(path));
  WW_ASSIGN(const std::filesystem::file_status status, Find(root, path, kFolder));
  if (!std::filesystem::is_directory(status)) return Refuse(path, "is not a folder", kFolder);
  return {};
}

}  // namespace warpwright::config
