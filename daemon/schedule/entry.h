// The launcher whose body is written anew: its parameters, what of its body is no launch and stays, and what it
// returns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/computation.h"
#include "core/kernel_spec.h"
#include "core/source_requests.h"
#include "schedule/unordered_terms.h"
#include "source/ast.h"

namespace warpwright::schedule {

struct EntryParameter {
  std::string name;
  std::string type;  // as kernels take it: "const float*", "int"; of a buffer its element: "float", "__half"
  bool buffer = false;
  bool cast = false;  // the launcher's pointer is of another type (void*, float4*)
  bool is_const = false;
  core::DType dtype = core::DType::kF32;
};

// A statement that sets a buffer to zero bytes before the launches.
struct Clear {
  std::string statement;
  std::map<int64_t, std::string> constants;  // that it names, by their numbers
};

struct Entry {
  std::string name;
  std::vector<EntryParameter> parameters;  // the manifest's, in its order
  source::TextRange declaration;           // with `template <...>` and extern "C"
  source::TextRange body;                  // with its braces
  source::TextRange replaced;              // by new launches: the body, or the statement of a segment
  // Statements that stay, and where they stand: checks of arguments, with the declarations that they need, and calls of
  // other launchers, then checks of errors.
  std::vector<std::string> before, after;
  std::vector<source::TextRange> kept;
  std::map<std::string, Clear> clears;  // by parameter
  std::string result;                   // "return cudaGetLastError();", or empty
  std::string block_name;               // "block_size", a constant of the launcher for the threads of a block, or empty
  std::string stream;                   // what kernels are launched into; empty: the default stream
  // What its kernels call a sum, a product or an extremum, where one variable of theirs is one and its name says more
  // than a letter.
  std::map<core::ReduceOp, std::string> results;
  // A check by variables that the launcher computes in more than their declarations went with them. Results may be none
  // there.
  bool loses_checks = false;
  std::set<std::string> compared_with_null;  // of the parameters, but for those that a check that stays asks about
  bool computes_in_double = false;           // its kernels name the type
  bool computes_wide = false;                // its kernels name 64-bit integers
  // Its kernels name an infinity or the largest number, from which extrema begin; else they begin with a first term.
  bool names_infinity = false;
  UnorderedTerms unordered;  // what its kernels' extrema make of what is no number

  bool is_segment() const { return replaced.begin != body.begin; }
  const EntryParameter* Find(std::string_view parameter) const;
};

// Refuses what no schedule handles: an entry that is a kernel, a template, or made by a macro; one that takes
// parameters that the manifest does not know. `segment`: of one of its segments (rewrite/segments.h) alone, whose
// statement is written anew where it stands; all else stays.
std::variant<core::RewriteRefusal, Entry> ReadEntry(const source::Ast& ast, const core::KernelSpec& spec,
                                                    std::optional<size_t> segment = std::nullopt);

}  // namespace warpwright::schedule
