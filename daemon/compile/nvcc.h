// The kernels of a module as nvcc compiles them: from the whole file with the real headers, as a project's build would,
// not from a slice. The judge runs these in place of NVRTC's, so that text which means one thing to the slice and
// another to nvcc does not get through.
//
// One run of nvcc makes the kernels and compiles the host code, as the project's build would; what it made of the host
// code is kept for source/whole_host.h.
// The text is as untrusted as a slice: the compiler is a child in a sandbox of its own, with a deadline.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <variant>

#include "base/result.h"
#include "compile/compiler.h"
#include "compile/toolkit.h"
#include "core/source_requests.h"

namespace warpwright::compile {

struct WholeBuild {
  core::CompiledModule module;
  std::map<std::string, std::string> host_files;  // as nvcc gives them to g++, by name
  std::string host_main;
};
using WholeOutcome = std::variant<WholeBuild, core::CompileFailed>;
// `source.root` is where its includes are, `source.build` how the project builds it. `module`: what NVRTC made of its
// slice; the result has the same kernels, under the symbols that nvcc gives them. kUnsupported where there is no nvcc.
Result<WholeOutcome> CompileWithNvcc(const Toolkit& toolkit, const core::SourceRef& source,
                                     const core::CompiledModule& module,
                                     std::chrono::milliseconds deadline = std::chrono::minutes(2));

// The entry of PTX whose function is `symbol`, or is named alike but for the names that a compiler gives to what is
// local to a file and for `long` in place of `long long`; empty: there is none, or several.
std::string SameKernelIn(const std::string& ptx, const std::string& symbol);

}  // namespace warpwright::compile
