// Instructions that an honest kernel rarely needs and a cheating one exploits: clocks (behave differently when timed),
// cache policies (leave data in L2 for the next timed launch), printf (forges output), the device heap (keeps data for
// the next launch), sleeping. They are searched for in PTX, where macros cannot hide them, and each needs an explicit
// `allow` in the manifest.
//
// Also finds where code computes or stores less exactly; the judge decides which of these the original does not have.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/code_use.h"
#include "core/kernel_spec.h"

namespace warpwright::compile {

struct PtxViolation {
  std::string instruction;  // "mov.u64 %rd1, %globaltimer"
  core::Allow needs;        // what the manifest must allow
  std::string file;
  int line = 0;  // of the source, from .loc; 0: unknown
};

// What `ptx` contains beyond `allowed`; the .file table is at the end of PTX, so a first pass reads the names.
std::vector<PtxViolation> FindPtxViolations(const std::string& ptx, const std::set<core::Allow>& allowed);

// The first use of each kind and format that makes results less exact than f32 or f64 would.
core::CodeUses FindPrecision(const std::string& ptx);

}  // namespace warpwright::compile
