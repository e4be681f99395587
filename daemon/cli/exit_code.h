// What the programs' exit codes mean. Documented in config/reference.md; stable.
#pragma once

#include "base/result.h"

namespace warpwright::cli {

enum ExitCode : int {
  kExitDone = 0,        // also "no improvement found"
  kExitUnverified = 1,  // verification failed
  kExitUsage = 2,
  kExitEnvironment = 3,  // something that must be installed, permitted or reachable is not
  kExitPending = 75,     // EX_TEMPFAIL: questions wait for an answer; run again afterwards
  kExitConfig = 78,      // EX_CONFIG: a file that the user wrote is invalid
};

inline int ExitCodeOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kConfig: return kExitConfig;
    case ErrorCode::kUsage: return kExitUsage;
    case ErrorCode::kUnsupported:
    case ErrorCode::kLimit: return kExitUnverified;
    case ErrorCode::kEnvironment:
    case ErrorCode::kIo:
    case ErrorCode::kTimeout:
    case ErrorCode::kWorkerDied:
    case ErrorCode::kCorrupt: return kExitEnvironment;
  }
  return kExitEnvironment;
}

}  // namespace warpwright::cli
