// What a word of the command line was probably meant to be: CLI11 says only that it was not expected.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpwright::cli {

// Of the first command or option that `app` does not know; nullopt: all are known, and something else is wrong.
std::optional<Error> FindMisspelt(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace warpwright::cli
