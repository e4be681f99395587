// Paths that a file of the repository names. They may not lead out of it, nor into git's own folder, whatever the file
// says.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace warpwright::config {

// The text alone: relative, '/'-separated, no empty, '.' or '..' parts, nothing below .git, no control characters or
// backslashes.
Status CheckRepositoryPath(std::string_view path);

// Also that root/path is a regular file and that no part of it below `root` is a symbolic link.
Status CheckRepositoryFile(const std::filesystem::path& root, std::string_view path);

}  // namespace warpwright::config
