// What the nights measured, and what was made of it: one file of JSON lines per entry, in a directory or on a branch.
//
//   {"v":1,"kind":"case",...}      one case of one night: a time with its spread, under one key
//   {"v":1,"kind":"night",...}     what was decided that night about the entry
//   {"v":1,"kind":"finding",...}   a regression, written when it is found, when it changes and when it ends
//
// Lines are appended and mean the same in any order, so that two histories of one entry are joined by joining their
// lines. What is older than 400 nights is thinned to one night a week; findings stay. Lines that cannot be read become
// warnings.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace warpwright::nights {

// What a time depends on beside the code. Equal keys are comparable.
struct HistoryKey {
  std::string device;   // "sim:h200", or the GPU's UUID: two GPUs of one model differ by more than many regressions
  std::string chip;     // "NVIDIA H200"
  std::string driver;   // "580.159.04"; empty on the simulator
  std::string toolkit;  // "NVRTC 13.0"
  std::string
      protocol;  // how it was timed: "paired-1"; of the simulator, whose model is part of the program, with the version
  bool operator==(const HistoryKey&) const = default;
  // The same machine, measured the same way: what is left to differ is driver and toolkit.
  bool SameMachine(const HistoryKey& other) const {
    return device == other.device && chip == other.chip && protocol == other.protocol;
  }
};

struct CaseTime {
  std::string time;  // of the night: "2026-11-21T02:30:00Z", the same in all its lines
  std::string kernel;
  HistoryKey key;
  std::string commit, slice;
  bool reference = false;  // the code is the reference's, timed beside tonight's
  bool modelled = false;
  std::string case_name;
  double weight = 1;
  double median_us = 0;
  double log_mean = 0;   // mean over blocks of the logarithm of the block's median time in us
  double log_error = 0;  // its standard error within the night; 0 on the simulator
  int samples = 0, discarded = 0;
  double mhz = 0;  // median clock of the multiprocessors meanwhile; 0: unknown
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
  std::string anchor_commit, anchor_slice;     // the revision that later nights are timed against
  double log_ratio = 0, lower = 0, upper = 0;  // of time tonight / time of the reference; 0 where nothing was compared
  bool epoch = false;                          // the level of times changed: nights from here on are a new baseline
  std::string finding;                         // id of the regression that is open after this night
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
  std::string commit;    // the culprit, for `code`; empty where it was not found
  std::string subject;   // its first line, as it stands in git: escape it
  std::string from, to;  // code: the revisions compared; else what the key said before and after
  std::string slice, anchor_slice;
  std::string case_name;  // the one that lost most
  double log_ratio = 0, lower = 0, upper = 0;
  bool confirmed = false;  // the culprit was timed against the commit before it, and was slower
  bool modelled = false;
  std::string message;  // one sentence
  bool operator==(const Finding&) const = default;
};

using HistoryLine = std::variant<CaseTime, NightVerdict, Finding>;

// Without its newline. An Error where ParseHistoryLine would refuse it.
Result<std::string> FormatHistoryLine(const HistoryLine& line);
// kCorrupt with the reason; kUnsupported where a newer warpwright wrote it. Unknown keys are ignored.
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
// Sorted by time, equal lines once, old nights thinned. Lines that cannot be read are dropped; but where a newer
// warpwright wrote some, the text is returned as it is.
std::string CompactHistory(std::string_view text);
// Whether it has grown so far beyond what is kept that compacting pays.
bool NeedsCompacting(std::string_view text);
// The lines of both, each once: for two branches that were appended to.
std::string MergeHistories(std::string_view a, std::string_view b);

// Seconds since 1970 of "2026-11-21T02:30:00Z".
Result<int64_t> ParseUtc(std::string_view text);

}  // namespace warpwright::nights
