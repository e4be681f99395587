// The manifest's `build`: how the project compiles the files of its kernels. It comes from whoever can push, and what
// it says reaches the command lines of compilers, of which nvcc hands its own to a shell: so only what the lists and
// characters here let through.
#pragma once

#include <optional>
#include <string_view>

#include "config/yaml_reader.h"
#include "core/build_options.h"

namespace warpwright::config {

// What is not said is as in `defaults`; errors are noted in `diagnostics`, and the value must then not be used.
core::BuildOptions ReadBuild(const YamlNode& node, const core::BuildOptions& defaults, Diagnostics& diagnostics);

// The same checks for what is guessed from a project's own files.
bool IsIncludeFolder(std::string_view folder);
bool IsDefine(std::string_view name, std::string_view value);
std::optional<core::BuildFlag> ParseBuildFlag(std::string_view text);  // in all spellings that nvcc knows

inline constexpr size_t kMaxBuildItems = 64;  // folders, and definitions

}  // namespace warpwright::config
