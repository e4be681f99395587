// What agents pass to each other: plans, predictions, diagnoses. Values only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/verdict.h"

namespace warpwright::core {

using Parameters = std::map<std::string, std::string>;

// "load_sectors_per_request falls from 32 to about 4": compared with the measurement after the verdict.
struct Prediction {
  std::string field;  // of core/evidence.h
  int direction = 0;  // -1 falls, +1 rises
  double factor = 0;  // rough size: after / before; 0 = only the direction is claimed
  bool operator==(const Prediction&) const = default;
};

// One method for one round. `evidence` is numbered from 1 in the order given, and `why` cites it: "[2]".
struct Plan {
  std::string method;                // skill id
  std::string transform;             // rewrite id; empty: the code must be written
  std::string kernel;                // qualified name of the kernel to change
  std::vector<Parameters> variants;  // parameter sets worth trying, best guess first
  std::string bottleneck;
  std::string why;
  std::vector<std::string> evidence;  // "load_sectors_per_request = 32 sectors"
  std::vector<Prediction> expected;
  double score = 0;
  std::string instructions;               // for whoever writes the code; empty where the transformation knows
  std::string author;                     // the engine that made it; empty: built in
  std::vector<std::string> kernels = {};  // all that it changes, as they are launched; empty: `kernel` alone
};

struct DiagnosedLine {
  std::string file;
  int line = 0;
  std::string text;  // empty: it is not in the candidate's own file
  bool operator==(const DiagnosedLine&) const = default;
};

// What went wrong with a candidate. `quote` is verbatim from the log or the verdict.
struct Diagnosis {
  enum class Cause {
    kMissingHelper,
    kCompileError,
    kResourceLimit,
    kMisaligned,
    kOutOfBounds,
    kRace,
    kWrongResult,
    kUninitialized,
    kNotSimulable,
    kRefused,
    kUnknown
  };
  Cause cause = Cause::kUnknown;
  std::string quote;
  std::string root_cause;
  std::string fix;
  double confidence = 0;                   // 0 to 1
  std::vector<DiagnosedLine> lines = {};   // what the verdict points at, in its order
  std::optional<WrongSample> sample = {};  // of a wrong result
};

}  // namespace warpwright::core
