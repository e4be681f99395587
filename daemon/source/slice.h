// Cuts a .cu file for one entry into what NVRTC compiles and what the host compiler compiles.
//
// Nothing is moved: code that a side does not need is replaced by spaces, so that every line keeps its number and
// messages of either compiler speak of the user's file. The device slice holds the kernels that the entry can reach and
// what they refer to. The host slice holds the entry and what it refers to, with
//   - each kernel's body replaced by a stub that records its launch, the way nvcc makes host stubs: conversions,
//     default arguments, deduction, packs and function pointers are then the compiler's business;
//   - k<<<c>>>(a) rewritten to (::ww::Push(c), k(a)), on tokens, so that launches inside macro bodies are covered;
//   - __device__ bodies emptied unless they are constexpr or also __host__;
//   - macros left out that nothing in it names.
// Everything is decided on raw tokens: a declaration is kept when the identifiers of something kept name it. That keeps
// too much at times and never too little, and does not depend on how well the parser understood the file.
//
// Repository headers are sliced the same way. Their include directives are rewritten to the path below the root
// ("kernels/common.cuh"), which is also their key in `device_headers` and `host_headers`, whatever the original
// spelling was. Names of system headers that NVRTC lacks are rewritten to our stand-ins ("ww_device/cstdint.h"); those
// are in `device_headers` too, so that the map is complete: beside it only the toolkit's include folder is needed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/evaluator.h"
#include "core/inspection.h"
#include "core/verdict.h"
#include "source/signature.h"

namespace warpwright::source {

struct Slices {
  std::string file;        // of the source, relative to its root: names the device program for messages
  std::string entry;       // as asked for: "ns::f<float>"
  std::string entry_name;  // qualified, with the template arguments that were asked for
  bool entry_is_kernel = false;
  bool entry_deduces = false;  // a template without arguments, or overloaded: the types of the arguments choose
  std::vector<core::ParameterInfo> parameters;         // of the entry
  std::map<size_t, UnsupportedParameter> unsupported;  // of these, by index
  int entry_line = 0;

  std::string device;
  std::string host;                                                 // empty where the entry is a kernel
  std::map<std::string, std::string> device_headers, host_headers;  // include name -> text
  std::vector<std::string> kernels;                                 // qualified names that the entry may launch
  std::vector<std::string> symbols;  // qualified names of the __device__ and __constant__ variables behind it
  std::vector<std::string> notes;    // "file:line: <x.h> is not available and was left out of the host slice"

  std::map<std::string, core::PrecisionUse> build_dependence;  // build_dependence.h

  std::string Digest() const;  // content address of both slices
};
using SliceOutcome = std::variant<Slices, core::Refused>;

// An unknown entry is a refusal that names the entries there are.
Result<SliceOutcome> Slice(const core::SourceRef& source, const std::string& entry);

}  // namespace warpwright::source
