// Cuts a .cu file for one entry into what NVRTC compiles and what the host compiler compiles.
//
// Nothing is moved: code that a side does not need is replaced by spaces, so that every line keeps its number and
// messages of both compilers refer to the user's file. The device slice holds the kernels that the entry can reach and
// what they refer to. The host slice holds the entry and what it refers to, with
//   - each kernel's body replaced by a stub that records its launch, the way nvcc makes host stubs: conversions,
//     default arguments, deduction, packs and function pointers are then left to the compiler;
//   - k<<<c>>>(a) rewritten to (::ww::Push(c), k(a)), on tokens, so that launches inside macro bodies are covered;
//   - __device__ bodies emptied unless they are constexpr or also __host__;
//   - macros removed that nothing in it names.
// On both sides a macro's text is the user's or gone. Only a body that is a list of declarations, invoked as one
// ("DEFINE_OP(add)"), is treated as they are, and of a macro that opens a function only the host loses what begins it.
// Everything is decided on raw tokens: a declaration is kept if an identifier in something that is kept names it. That
// sometimes keeps too much and never too little, and does not depend on how well the parser understood the file.
//
// Repository headers are sliced the same way. Their include directives are rewritten to the path below the root
// ("kernels/common.cuh"), which is also their key in `device_headers` and `host_headers`, regardless of the original
// spelling. Names of system headers that NVRTC lacks are rewritten to our stand-ins ("ww_device/cstdint.h"); those are
// in `device_headers` too, so that the map is complete: in addition to it, only the toolkit's include folder is needed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/execution.h"
#include "core/inspection.h"
#include "core/verdict.h"
#include "source/signature.h"

namespace warpwright::source {

struct Slices {
  std::string file;          // of the source, relative to its root: names the device program for messages
  core::BuildOptions build;  // how both slices are compiled
  std::string entry;         // as requested: "ns::f<float>"
  std::string entry_name;    // qualified, with the requested template arguments
  bool entry_is_kernel = false;
  bool entry_deduces = false;  // a template without arguments, or overloaded: selected by the argument types
  std::vector<core::ParameterInfo> parameters;         // of the entry
  std::map<size_t, UnsupportedParameter> unsupported;  // of these, by index
  int entry_line = 0;

  std::string device;
  std::string host;                                                 // empty if the entry is a kernel
  std::map<std::string, std::string> device_headers, host_headers;  // include name -> text
  // Qualified names of those that the entry may launch and that a name alone tells: no overloads, and of templates what
  // is launched as "k<8, true>". A compiler makes the others in any case, and these for other sizes.
  std::vector<std::string> kernels;
  std::vector<std::string> symbols;  // qualified names of the __device__ and __constant__ variables that it uses
  std::vector<std::string> notes;    // "file:line: <x.h> is not available and was left out of the host slice"

  core::CodeUses build_dependence;  // see build_dependence.h and shared_code.h

  std::string Digest() const;  // content address of both slices and their build
};
using SliceOutcome = std::variant<Slices, core::Refused>;

// An unknown entry is a refusal that lists the existing entries.
Result<SliceOutcome> Slice(const core::SourceRef& source, const std::string& entry);

}  // namespace warpwright::source
