// The output of a recorder program, decoded strictly, and how two runs become one plan.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/execution.h"
#include "core/launch_plan.h"
#include "core/verdict.h"

namespace warpwright::source {

struct Readback {
  int buffer = -1;
  std::string file;
  int line = 0;
};
struct RecordedFault {
  int signal = 0;
  int buffer = -1;  // that host code accessed; -1: none
  bool write = false, dirty = false, managed = false;
  std::vector<uint64_t> stack;
};
struct Recording {
  std::vector<uint64_t> workspaces;              // sizes in bytes; numbered after the arguments
  std::set<uint64_t> kept;                       // buffers that outlive the call that made them
  std::vector<std::vector<core::PlanOp>> calls;  // pointers in by-value structures keep their bytes and are listed
  std::vector<std::vector<std::vector<bool>>> is_pointer;  // [call][launch][parameter]: declared as a pointer
  std::vector<std::vector<core::PlanOp>> earlier;          // of the calls with other arguments before these
  std::vector<Readback> readbacks;
  std::optional<RecordedFault> fault;
  std::optional<core::Refused> refused;
  std::optional<core::FoundUse> unordered;      // work that is not ordered with the caller's
  std::vector<std::string> returned;            // by the calls that return a value, in hexadecimal digits
  std::optional<std::string> returned_failing;  // by the call in which every launch fails
  struct Effect {
    std::string what, function;
  };
  std::vector<Effect> effects;   // beside launching: "a wait for the device in every call", "cudaStreamSynchronize"
  std::vector<double> compared;  // numbers that the launcher's code compared something with
  std::vector<core::Decision> decisions;  // what it compared with one another
  double host_us = 0;                     // of its own code, per call; 0: not measured
  bool served = false;                    // it read what an input holds
  bool ended = false;
};
// `arguments` is the number of buffer arguments, `file` the meaning of an empty file name.
Result<Recording> DecodeRecording(std::string_view lines, size_t arguments, const std::string& file);

// The plan that both runs agree on. Refused if they disagree, or if the calls after the first differ.
std::variant<core::LaunchPlan, core::Refused> MakePlan(Recording a, const Recording& b,
                                                       std::vector<core::PlanBuffer> arguments,
                                                       const std::string& file);

// Whether the calls of another recording of the same program, which follow calls with other arguments, differ from the
// plan: the first one may set up again, what was set up before must be the plan's, and memory may be larger, not
// smaller.
bool DependsOnEarlierCalls(const core::LaunchPlan& plan, Recording later);

}  // namespace warpwright::source
