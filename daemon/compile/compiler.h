// Device slice -> PTX and cubin, by NVRTC. One compilation produces both; the assembler log gives registers, spills,
// stack and shared memory. The compiled text is untrusted: it may include only the toolkit's headers and those passed
// in memory, what a device runs is never compiled as relocatable device code (so it cannot launch kernels), and the
// calling process has a memory limit and a deadline (worker/).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "compile/toolkit.h"
#include "core/build_options.h"
#include "core/compiled.h"
#include "core/verdict.h"

namespace warpwright::compile {

enum class Build : uint8_t {
  kUsual,
  // For lifting: the mathematical library's functions stay calls of markers (core/math_markers.h). There is PTX and no
  // cubin, nor what it says about the kernels; only the simulator runs it.
  kMarkers,
  // As another project might build it, C++20 without assertions, and for a host whose plain char has no sign, which
  // device code follows (aarch64): code that depends on that differs. PTX alone. What the project's own build defines
  // and its flags hold here too.
  kOther,
  kOtherSignedChars,  // the same but for char
  // Nearly without optimization: integers wrap where the text says so, though an overflow that C++ leaves undefined may
  // go unnoticed in the usual build.
  kAsWritten,
};

struct CompileRequest {
  std::string file;  // as the user knows it; appears in logs and .loc
  std::string text;
  std::map<std::string, std::string> headers;  // include name -> text
  std::vector<std::string> kernels;            // name expressions: "softmax<float, 4>"
  std::string arch = "sm_90";                  // of the chip; `options` may make more of it
  bool line_info = true;  // .loc in PTX, line table in the cubin; without it, equal code gives equal bytes
  Build build = Build::kUsual;
  core::BuildOptions options = {};  // of the project; its folders are not searched, since `headers` are complete
};
using CompileOutcome = std::variant<core::CompiledModule, core::CompileFailed>;

struct BothBuilds {
  CompileOutcome usual;
  bool differs = false;  // whether another project's build makes other code of it, or none
  bool by_char = false;  // whether it does for a host whose plain char has no sign
};

// Whether a compilation failed for a kernel's name, which tells several functions or none.
bool FailedForName(const core::CompileFailed& failed);

// sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_120.
bool IsSupportedArch(const std::string& arch);

class Compiler {
 public:
  // `cache_folder` empty: nothing is cached on disk.
  static Result<Compiler> Create(const std::filesystem::path& cache_folder);
  Result<CompileOutcome> Compile(const CompileRequest& request) const;
  // A request for the usual build, and beside it, at the same time, the other one.
  Result<BothBuilds> CompileBoth(const CompileRequest& request) const;
  const Toolkit& toolkit() const { return toolkit_; }
  // "NVRTC 13.0": part of every key and of provenance.
  const std::string& toolchain() const { return toolchain_; }

 private:
  Toolkit toolkit_;
  std::filesystem::path cache_folder_;
  std::string toolchain_;
};

}  // namespace warpwright::compile
