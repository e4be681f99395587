// What the nightly runs measured, and what was concluded: one file of JSON lines per entry, in a directory or on a
// branch.
//
//   {"v":1,"kind":"case",...}      one case of one run: a time with its spread, under one key
//   {"v":1,"kind":"night",...}     what that run decided about the entry
//   {"v":1,"kind":"finding",...}   a regression, written when it is found, when it changes and when it ends
//
// Lines are appended and mean the same in any order, so two histories of one entry are merged by merging their lines.
// Runs older than the latest 400 are thinned to one per week; findings are kept. Lines that cannot be parsed become
// warnings.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace warpwright::nights {

// What a time depends on besides the code. Times with equal keys are comparable.
struct HistoryKey {
  std::string device;    // "sim:h200", or the GPU's UUID: two GPUs of one model differ by more than many regressions
  std::string chip;      // "NVIDIA H200"
  std::string driver;    // "580.159.04"; empty on the simulator
  std::string toolkit;   // "NVRTC 13.0"
  std::string protocol;  // of timing: "paired-1"; on the simulator, whose model is in the program, with the version
  bool operator==(const HistoryKey&) const = default;
  // The same machine, measured the same way: only driver and toolkit may differ.
  bool SameMachine(const HistoryKey& other) const {
    return device == other.device && chip == other.chip && protocol == other.protocol;
  }
};

struct CaseTime {
  std::string time;  // of the run: "2026-11-21T02:30:00Z", the same in all its lines
  std::string kernel;
  HistoryKey key;
  std::string commit, slice;
  bool reference = false;  // the code is the reference's, timed along with the current one
  bool modelled = false;
  std::string case_name;
  double weight = 1;
  double median_us = 0;
  double log_mean = 0;   // mean over blocks of the logarithm of the block's median time in us
  double log_error = 0;  // its standard error within the run; 0 on the simulator
  int samples = 0, discarded = 0;
  double mhz = 0;  // median clock of the multiprocessors during the timing; 0: unknown
  bool operator==(const CaseTime&) const = default;
};

// How a night's times were against the reference.
enum class NightState { kFirst, kSame, kFaster, kSlower, kDrift, kUnclear, kFailed };
std::string_view Name(NightState state);  // "first"

struct NightVerdict {
  std::string time, kernel;
  HistoryKey key;
  std::string commit, slice;
  NightState state = NightState::kFirst;
  std::string message;
  std::string anchor_commit, anchor_slice;     // the revision that later runs are timed against
  double log_ratio = 0, lower = 0, upper = 0;  // of current time / reference time; 0 if nothing was compared
  bool epoch = false;                          // the level of times changed: this run begins a new baseline
  std::string finding;                         // id of the regression that is open after this run
  bool operator==(const NightVerdict&) const = default;
};

enum class FindingState { kOpen, kChanged, kRecovered, kAccepted };
std::string_view Name(FindingState state);  // "open"
enum class Cause { kCode, kDriver, kToolkit, kDriverOrToolkit, kUnknown };
std::string_view Name(Cause cause);  // "driver or toolkit"

struct Finding {
  std::string time, kernel, id;
  HistoryKey key;
  FindingState state = FindingState::kOpen;
  Cause cause = Cause::kUnknown;
  std::string commit;    // the first bad commit, for `code`; empty if it was not found
  std::string subject;   // its subject line as in git: escape it
  std::string from, to;  // code: the revisions compared; else the key's values before and after
  std::string slice, anchor_slice;
  std::string case_name;  // the one with the largest loss
  double log_ratio = 0, lower = 0, upper = 0;
  bool confirmed = false;  // the first bad commit was timed against the commit before it, and was slower
  bool modelled = false;
  std::string message;  // one sentence
  bool operator==(const Finding&) const = default;
};

using HistoryLine = std::variant<CaseTime, NightVerdict, Finding>;

// Without its newline. An Error if ParseHistoryLine would refuse it.
Result<std::string> FormatHistoryLine(const HistoryLine& line);
// kCorrupt with the reason; kUnsupported if a newer warpwright wrote it. Unknown keys are ignored.
Result<HistoryLine> ParseHistoryLine(std::string_view line);

struct History {
  std::vector<CaseTime> cases;  // each by time
  std::vector<NightVerdict> nights;
  std::vector<Finding> findings;
  std::vector<std::string> warnings;

  // The last line of each finding that is open or changed.
  std::vector<Finding> Open() const;
  std::vector<Finding> Open(const HistoryKey& machine) const;
};
// `name` is for warnings.
History ParseHistory(std::string_view text, std::string_view name);

inline constexpr int kNightsKept = 400, kWeeksKept = 520;
// Sorted by time, without duplicates, old runs thinned. Lines that cannot be parsed are dropped; but if a newer
// warpwright wrote some, the text is returned unchanged.
std::string CompactHistory(std::string_view text);
// Whether it exceeds the kept runs by so much that compacting is worthwhile.
bool NeedsCompacting(std::string_view text);
// The lines of both, without duplicates: for two branches that were appended to.
std::string MergeHistories(std::string_view a, std::string_view b);

// Seconds since 1970 of "2026-11-21T02:30:00Z".
Result<int64_t> ParseUtc(std::string_view text);

}  // namespace warpwright::nights
