// Instructions that an honest kernel rarely needs and a cheating one likes: clocks (behave differently when timed),
// cache policies (leave data in L2 for the next timed launch), printf (forges output), the device's heap (keeps what
// the next launch finds), sleeping. They are looked for in PTX, where macros cannot hide them, and each needs an
// explicit `allow` in the manifest.
//
// And where code computes or stores less exactly: which of that the original does not do is the judge's question.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/kernel_spec.h"

namespace warpwright::compile {

struct PtxViolation {
  std::string instruction;  // "mov.u64 %rd1, %globaltimer"
  core::Allow needs;        // what the manifest would have to allow
  std::string file;
  int line = 0;  // of the source, from .loc; 0 where there is none
};

// What `ptx` contains beyond `allowed`; the .file table stands at the end of PTX, so names come from a first pass.
std::vector<PtxViolation> FindPtxViolations(const std::string& ptx, const std::set<core::Allow>& allowed);

// The first use of each, by what it is:
//   "to X"             a conversion to a narrower floating-point type X (f32, tf32, bf16, f16, e4m3, ...)
//   "products in X"    tensor-core products of inputs of type X narrower than f32 (tf32, ..., i8)
//   "sums in f16"      tensor-core products whose sums are narrower than f32
//   "arithmetic in X"  rounding arithmetic and atomics in f16 or bf16
//   "approximate OP"   .approx and .full forms ("approximate ex2")
//   "flushed subnormals"
std::map<std::string, core::PrecisionUse> FindPrecision(const std::string& ptx);

}  // namespace warpwright::compile
