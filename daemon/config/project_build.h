// What a project's own build files say of how one of its files is compiled: compile_commands.json, CMakeLists.txt or a
// Makefile, of which only what is written out is understood. Variables, conditions and generator expressions are not
// evaluated: what depends on them is left out. For first drafts that a user reads (`warpwright init`).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/build_options.h"

namespace warpwright::config {

struct ProjectBuild {
  core::BuildOptions build;  // folders that exist below the root
  std::string from;          // "build/compile_commands.json"; empty: nothing says anything
};
// `file` is relative to `root`, a working tree. The first that says something, of compile_commands.json at the root or
// in build/, then CMakeLists.txt, then Makefile, these beside the file or above it.
ProjectBuild FindProjectBuild(const std::filesystem::path& root, const std::string& file);

// The parts of it, for texts of any content. Folders in the results are relative to the root of the repository.
struct BuildPlace {
  std::filesystem::path root;    // absolute
  std::filesystem::path folder;  // of the build file, relative to it
};
core::BuildOptions ReadCompileCommands(std::string_view text, const BuildPlace& place, const std::string& file);
core::BuildOptions ReadCMakeLists(std::string_view text, const BuildPlace& place, const std::string& file);
core::BuildOptions ReadMakefile(std::string_view text, const BuildPlace& place);

// Words of a command line: what counts is added. Relative folders are below place.folder.
void AddCompilerWords(std::span<const std::string> words, const BuildPlace& place, core::BuildOptions& build);
void AddFolder(const std::string& word, const BuildPlace& place, core::BuildOptions& build);
void AddDefine(std::string_view word, core::BuildOptions& build);    // "TILE=32"
void AddStandard(std::string_view word, core::BuildOptions& build);  // "c++17", "gnu++17", "17"
std::vector<std::string> SplitCommandLine(std::string_view line);

inline constexpr size_t kMaxBuildWords = 16 << 10;  // of a file

}  // namespace warpwright::config
