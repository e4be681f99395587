#pragma once

#include "memory/experience.h"

namespace warpwright {

inline memory::Experience SampleExperience() {
  memory::Experience e;
  e.key = {"h200", "f32", "row_normalization", "serial_rows;headroom>=20"};
  e.method = "row_parallel";
  e.parameters = {{"mode", "warp"}, {"rows_per_block", "4"}};
  e.outcome = core::VerdictKind::kMeasured;
  e.log_gain = 1.8325814637483102;
  e.spread = 0.01;
  e.modelled = true;
  e.kernel = "softmax";
  e.source = "0f3a";
  e.toolchain = "nvrtc 13.0";
  e.version = "0.1.0";
  e.time = "2026-11-21T03:00:00Z";
  return e;
}

}  // namespace warpwright
