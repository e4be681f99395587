// Files of a tree that somebody else fills, such as a repository: no symbolic link leads out of it, what is no regular
// file is not even opened (a pipe would wait, a device act), and nothing is written through a link.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpwright::base {

// `file` is relative to `root`. A link to another file of the tree is followed. Errors are kIo; kConfig if the file is
// not one of the tree.
Result<std::string> ReadFileBelow(const std::filesystem::path& root, const std::filesystem::path& file,
                                  uint64_t limit_bytes = 64u << 20);

// As WriteFileAtomically. kConfig if a folder on the way or the file itself is a link.
Status WriteFileBelow(const std::filesystem::path& root, const std::filesystem::path& file, std::string_view content);

}  // namespace warpwright::base
