// Builds recorder programs: the precompiled shim once per cache folder, a program once per host slice. Both are
// content-addressed, so that another case of the same source only runs the program again.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <variant>

#include "base/result.h"
#include "source/slice.h"

namespace warpwright {

struct Recorder {
  std::filesystem::path program;
};
struct HostCompileFailed {
  std::string log;  // g++'s, with the user's file and line
  std::string file;
  int line = 0;  // of the first error
};

Result<std::variant<Recorder, HostCompileFailed>> BuildRecorder(const Slices& slices, const std::string& harness,
                                                                const std::filesystem::path& cache,
                                                                std::chrono::milliseconds deadline);

}  // namespace warpwright
