// Paths named by a file of the repository. They must not lead out of the repository or into its .git folder.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace warpwright::config {

// Checks the text alone: relative, '/'-separated, no empty, '.' or '..' parts, nothing below .git, no control
// characters or backslashes.
Status CheckRepositoryPath(std::string_view path);

// The same for a folder; "." is the root.
Status CheckRepositoryFolderName(std::string_view path);

// Also checks that root/path is a regular file, or a folder, and that no part of it below `root` is a symbolic link.
Status CheckRepositoryFile(const std::filesystem::path& root, std::string_view path);
Status CheckRepositoryFolder(const std::filesystem::path& root, std::string_view path);

}  // namespace warpwright::config
