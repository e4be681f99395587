// Paths that a command line names: one that cannot be meant is its user's mistake, and is said before anything is done.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace warpwright::cli {

// `option` is "--skills", or the name of an argument. kUsage; an empty path names nothing and is fine.
Status CheckNamedFolder(std::string_view option, const std::string& path);  // it is there
Status CheckNamedFile(std::string_view option, const std::string& path);    // it is there
Status CheckNamedOutput(std::string_view option, const std::string& path);  // a file can be there: its folder is

}  // namespace warpwright::cli
