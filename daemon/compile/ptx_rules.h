// Instructions that an honest kernel rarely needs and a cheating one exploits: clocks (behave differently when timed),
// cache policies (leave data in L2 for the next timed launch), printf (forges output), the device heap (keeps data for
// the next launch), sleeping. They are searched for in PTX, where macros cannot hide them, and each needs an explicit
// `allow` in the manifest.
//
// Also finds where code computes or stores less exactly; the judge decides which of these the original does not have.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/execution.h"
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

// The first use of each kind, by name:
//   "to X"             a conversion to a narrower floating-point type X (f32, tf32, bf16, f16, e4m3, ...)
//   "products in X"    tensor-core products of inputs of type X narrower than f32 (tf32, ..., i8)
//   "sums in f16"      tensor-core products whose sums are narrower than f32
//   "arithmetic in X"  rounding arithmetic and atomics in f16 or bf16
//   "approximate OP"   .approx and .full forms ("approximate ex2")
//   "flushed subnormals"
//   "unordered sums in X"  atomic additions, whose order no two runs need share
std::map<std::string, core::PrecisionUse> FindPrecision(const std::string& ptx);

}  // namespace warpwright::compile
