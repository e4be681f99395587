#include "cli/named_paths.h"

#include <fmt/format.h>

#include <filesystem>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> Mistake(std::string_view option, const std::string& path, std::string_view why,
                              std::string remedy) {
  return Fail(ErrorCode::kUsage, fmt::format("{}: {} {}", option, path, why), std::move(remedy));
}

}  // namespace

Status CheckNamedFolder(std::string_view option, const std::string& path) {
  std::error_code error;
  if (path.empty() || fs::is_directory(path, error)) return {};
  return Mistake(option, path, fs::exists(path, error) ? "is no folder" : "does not exist",
                 "name a folder that is there");
}

Status CheckNamedFile(std::string_view option, const std::string& path) {
  std::error_code error;
  if (path.empty()) return {};
  if (fs::is_directory(path, error)) return Mistake(option, path, "is a folder", "name a file");
  if (fs::exists(path, error)) return {};
  return Mistake(option, path, "does not exist", "name a file that is there");
}

Status CheckNamedOutput(std::string_view option, const std::string& path) {
  std::error_code error;
  if (path.empty()) return {};
  if (fs::is_directory(path, error)) return Mistake(option, path, "is a folder", "name a file");
  const fs::path folder = fs::path(path).parent_path();
  if (folder.empty() || fs::is_directory(folder, error)) return {};
  return Mistake(option, path, "lies in a folder that does not exist", "make the folder first");
}

}  // namespace warpwright::cli
