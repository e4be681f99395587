// Builds recorder programs: the precompiled shim once per cache folder, a program once per host program. Both are
// content-addressed, so that another case of the same source, or another kernel under the same launcher, only reruns
// the program.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/build_options.h"
#include "source/host_program.h"

namespace warpwright::source {

// What one build decides and another does otherwise must not decide what a launcher does.
enum class HostBuild {
  kUsual,  // C++17 or what the project says, not optimized
  kOther,  // C++20, optimized, without assertions, where plain char has no sign
};
struct Recorder {
  std::filesystem::path program;
  std::filesystem::path object;                // of the host program alone
  std::vector<std::filesystem::path> runtime;  // the objects that it is linked with
};
struct HostCompileFailed {
  std::string log;  // of g++, with the user's file and line
  std::string file;
  int line = 0;  // of the first error
};

// `file` is the main file's name; `options` are the project's.
Result<std::variant<Recorder, HostCompileFailed>> BuildRecorder(const std::string& file, const HostProgram& host,
                                                                const core::BuildOptions& options,
                                                                const std::string& harness, HostBuild build,
                                                                const std::filesystem::path& cache,
                                                                std::chrono::milliseconds deadline);

// The same of what nvcc kept of a whole file (source/whole_host.h), with `harness` behind its main file. The last
// object of the runtime is the one by which nvcc's code calls it.
Result<std::variant<Recorder, HostCompileFailed>> BuildWholeRecorder(
    const std::map<std::string, std::string>& files, const std::string& main, const std::string& harness,
    const std::vector<std::filesystem::path>& include_folders, const core::BuildOptions& options,
    const std::filesystem::path& cache, std::chrono::milliseconds deadline);

}  // namespace warpwright::source
