// The judge's verdict on a candidate. A Verdict describes the candidate; an Error (base/result.h) describes a failure
// of warpwright or its environment.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/check.h"
#include "core/counters.h"
#include "core/timing.h"

namespace warpwright::core {

// A fault that a device detected while the kernel ran. `line` is in the user's source, if -lineinfo gives one.
struct Fault {
  enum class Kind {
    kOutOfBounds,
    kMisaligned,
    kUninitializedRead,
    kSharedRace,
    kDivergentBarrier,
    kInactiveShuffle,
    kInstructionLimit,
    kTrap,
    kNotSimulated,
    kReadOnlyWrite,
    kResourceLimit,
    kIllegalInstruction,
    kNotVisible
  };
  Kind kind = Kind::kOutOfBounds;
  std::string message;  // complete: "out-of-bounds write of 4 bytes at out[1024] (buffer of 4096 bytes)"
  std::string kernel;
  std::string file;
  int line = 0;
  uint32_t block[3] = {0, 0, 0};
  uint32_t thread[3] = {0, 0, 0};
};
std::string_view Name(Fault::Kind kind);  // "out-of-bounds"

struct CompileFailed {
  std::string log;  // the compiler's log, with the user's file and line
};
// The candidate must not be run, or cannot be sliced or recorded: cuBLAS in the launcher, a forbidden instruction, an
// edit outside the entry.
struct Refused {
  CheckName check;
  std::string reason;
  std::string file;
  int line = 0;
};
// Some of the wrong elements of an output, the first and the last ones, and what they have in common.
struct WrongElement {
  std::string element;  // "out[3, 17]"
  std::string is, expected;
};
struct WrongSample {
  uint64_t wrong = 0, elements = 0;    // of the output
  std::string pattern;                 // "the last 31 columns of 4 rows, each is zero"; empty: none was seen
  std::vector<WrongElement> examples;  // by index
};
struct WrongResult {
  Check check = Check::kComparison;
  std::string case_name;
  std::string message;                     // with the coordinates, the expected and the actual value
  std::optional<WrongSample> sample = {};  // where an output was compared element by element
};
struct Faulted {
  Fault fault;
  std::string case_name;
};
struct CaseMeasurement {
  std::string case_name;
  double weight = 1;
  double time_us = 0;
  double host_us = 0;    // of the launcher's own code, per call (core/execution.h)
  bool sampled = false;  // counters extrapolated from part of the grid
  std::vector<LaunchReport> launches;
  std::optional<TimingSummary> timing;  // against the original, on a real device
};
// Begins the notes on what could not be counted; the reason and its remedy follow. They concern the device, not a
// kernel.
inline constexpr std::string_view kCountersNote = "counters: ";

struct Measured {
  bool modelled = true;
  std::string device;  // "sim:h200"
  std::vector<CaseMeasurement> cases;
  std::vector<CheckName> checks;  // the checks that ran and passed, in order
  // From the paired timing on a real device, over all cases by weight. A full evaluation yields kFaster only if a
  // second process with other seeds confirms it.
  std::optional<TimingDecision> decision;
  // On this candidate, for reviewers: "uses approximate ex2, which the original does not".
  std::vector<std::string> notes;
};

using Verdict = std::variant<CompileFailed, Refused, WrongResult, Faulted, Measured>;

// The names of the alternatives, here and among the outcomes of core/evaluator.h.
constexpr std::string_view Tag(const CompileFailed*) { return "compile_failed"; }
constexpr std::string_view Tag(const Refused*) { return "refused"; }
constexpr std::string_view Tag(const WrongResult*) { return "wrong_result"; }
constexpr std::string_view Tag(const Faulted*) { return "faulted"; }
constexpr std::string_view Tag(const Measured*) { return "measured"; }
enum class VerdictKind : uint8_t { kCompileFailed, kRefused, kWrongResult, kFaulted, kMeasured };  // as in Verdict
std::string_view Name(VerdictKind kind);                                                           // their tags
constexpr VerdictKind Last(VerdictKind) { return VerdictKind::kMeasured; }
inline VerdictKind KindOf(const Verdict& verdict) { return static_cast<VerdictKind>(verdict.index()); }
std::string_view VerdictName(const Verdict& verdict);
std::string VerdictMessage(const Verdict& verdict);  // one line for users
inline bool Passed(const Verdict& verdict) { return std::holds_alternative<Measured>(verdict); }

// Weighted geometric mean of original / candidate over the cases that both have; > 1 is faster. If a side was timed
// against the task's original (CaseMeasurement::timing), those pairs count instead of the two times.
double LogGain(const CaseMeasurement& before, const CaseMeasurement& after);  // of one case
double Speedup(const Measured& original, const Measured& candidate);

}  // namespace warpwright::core
