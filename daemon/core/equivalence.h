// The call that compares what two versions of an entry compute (lift/equivalence.h): what a worker is asked, and what
// it answers. A second witness beside the judge's numbers: `Equal` is not needed to pass, and `Different` is a claim
// until a run on its input shows it.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/lifting.h"

namespace warpwright::core {

struct EquivalenceRequest {
  SourceRef original, candidate;
  KernelSpec spec;
  std::string device;                       // whose properties the launchers see: "sim:h200"
  std::vector<LiftShape> shapes;            // in the order in which they should be tried
  uint32_t compared_shapes = 3;             // that suffice
  uint32_t node_limit = 3'000'000;          // of both sides together, at one shape
  uint64_t instruction_limit = 30'000'000;  // of threads, of one execution
  double seconds_limit = 5;                 // of processor time; no further shape or input is begun after it
};

// What the candidate computes at every compared shape, in every order of blocks and warps and after an earlier call, is
// what the original computes.
struct Equal {
  uint32_t shapes = 0;
  uint32_t inputs = 0;     // on which both sides' expressions were evaluated, over all shapes
  uint64_t elements = 0;   // of all outputs at all shapes
  uint64_t identical = 0;  // of these: the same operations in the same order
  uint64_t same_form = 0;  // others: one function of real numbers by algebra
};

// How an element differs.
enum class DifferenceKind : uint8_t {
  kNotWritten,   // by the candidate
  kWritten,      // by the candidate alone
  kFunction,     // another function of real numbers
  kAccuracy,     // the same one, but rounding or overflow spoil it where they do not spoil the original
  kOrder,        // with other orders of blocks and warps
  kEarlierCall,  // after an earlier call without reloading
  kFails,        // the candidate does not run at all where the original does
};
std::string_view Name(DifferenceKind kind);  // "function"
constexpr DifferenceKind Last(DifferenceKind) { return DifferenceKind::kFails; }

struct Difference {
  DifferenceKind kind = DifferenceKind::kFunction;
  std::string output;  // empty for kFails
  uint64_t element = 0;
  std::string original, candidate;    // expressions of the element, shortened; of kFails, how it fails
  double expected = 0, computed = 0;  // by these, with `input`
  LiftShape input;                    // one that should show it
  // Of kEarlierCall: every buffer after the candidate ran on `input`, having run on other inputs before.
  std::vector<base::Bytes> outputs;
};
struct Different {
  std::vector<Difference> differences;  // at least one: each kind's most visible ones
};
// Nothing is said: the numbers decide.
struct NotComparable {
  std::string blocker;  // a short class, for counting: "lossy", "node limit"
  std::string message;
  bool candidate = false;  // it is the candidate that cannot be followed
};
using EquivalenceOutcome = std::variant<NotComparable, Different, Equal>;

struct Equivalence {
  EquivalenceOutcome outcome;
  std::vector<std::string> remarks;  // on how the candidate computes, for reviewers: "it calls no exp"
  // Numbers that its text has and the original's has not, in ascending order: it may take another way at these sizes.
  std::vector<int64_t> literals;
  double seconds = 0;
};

}  // namespace warpwright::core
