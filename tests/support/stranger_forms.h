// Schedules applied to forms that lifting made of strangers' entries (tests/golden/stranger-forms.jsonl), in the
// strangers' files or in a file of our own with the same launcher.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/scheduling.h"
#include "schedule/schedule.h"

namespace warpwright::testing {

struct Stranger {
  std::string name;  // "03-tinyggml/rmsnorm_naive"
  std::string root;  // of its repository
  core::KernelSpec spec;
  core::Computation form;
  std::string text;  // of its file
};
const std::vector<Stranger>& Strangers();
const Stranger& Find(const std::string& name);

core::Scheduling SchedulingOf(const Stranger& stranger);
// The rewritten file; "REFUSED: reason"; "ERROR: ..." for usage errors.
std::string Apply(const std::string& schedule, const Stranger& stranger, const std::string& text,
                  const schedule::ParameterValues& parameters = {});
// A launcher with the stranger's arguments, and a kernel that does nothing.
std::string StubFor(const Stranger& stranger);

// Slices for the entry and compiles all kernels that it launches for sm_90 with NVRTC: "" or the reason.
std::string CompileError(const Stranger& stranger, const std::string& text);

}  // namespace warpwright::testing
