// Instructions that an honest kernel rarely needs and a cheating one likes: clocks (behave differently when timed), cache policies (leave
// data in L2 for the next timed launch), printf (forges output), sleeping. They are looked for in PTX, where macros cannot hide them, and
// each needs an explicit `allow` in the manifest.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/kernel_spec.h"

namespace warpwright {

struct PtxViolation {
  std::string instruction;   // "mov.u64 %rd1, %globaltimer"
  Allow needs;               // what the manifest would have to allow
  std::string file;
  int line = 0;              // of the source, from .loc; 0 where there is none
};

// What `ptx` contains beyond `allowed`; the .file table stands at the end of PTX, so names come from a first pass.
std::vector<PtxViolation> FindPtxViolations(const std::string& ptx, const std::set<Allow>& allowed);

}  // namespace warpwright
