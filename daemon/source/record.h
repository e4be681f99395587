// Runs a launcher in a sandboxed child against our own cuda_runtime.h and records what it does.
//
// The host slice is compiled with g++ (a precompiled header holds the shim) and linked with a small runtime. Device
// pointers are unmapped addresses: host code that dereferences one faults, and the handler reports which buffer it was.
// The program runs three times. In the first two, which must agree, everything differs that differs in reality: the
// addresses and distances of buffers, so that pointers inside by-value structures can be distinguished from numbers;
// the environment; what the device answers when it is asked for free memory, registers, events or its number; garbage
// that device-to-host copies return, so that a launcher that branches on a computed value is detected; and how the
// program was built. In each run the entry is called three times, which separates what happens once (static scratch)
// from what happens in every call. A launcher whose file's variables still change in the third call is refused: it may
// be counting calls.
//
// The third run follows calls with other sizes and scalars, its caller is on the default stream, its arguments move
// between calls, and in a last call every launch fails. What it shows is reported among the foreign uses, as is what
// the host does beside launching: whoever judges refuses those that the original does not have.
//
// The plan is returned as JSON lines on a separate descriptor and is decoded strictly: the recorder ran untrusted code.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/chip.h"
#include "core/execution.h"
#include "core/kernel_spec.h"
#include "core/launch_plan.h"
#include "core/verdict.h"
#include "source/slice.h"

namespace warpwright::source {

struct RecordBuffer {
  std::string name;
  uint64_t bytes = 0;
  int64_t pointer_offset = 0;            // bytes beyond a 256-byte boundary: launchers may check alignment
  std::optional<uint32_t> same_as = {};  // the entry gets this other buffer's address
  bool absent = false;                   // the entry gets a null pointer
  // Returned to a launcher that reads this input on the host (a scalar in a buffer). Empty: such a read is refused.
  std::vector<std::byte> content;
};

struct RecordRequest {
  const core::KernelSpec* spec = nullptr;
  std::map<std::string, core::ScalarValue> scalars;  // of the case
  std::vector<RecordBuffer> buffers;                 // every buffer argument, in the order of the signature
  core::Chip chip;                                   // for device and occupancy queries and launch limits
  std::filesystem::path cache;                       // compiled recorders and the precompiled shim, by content
  std::chrono::milliseconds compile_deadline{60'000};
  std::chrono::milliseconds run_deadline{10'000};
};

struct Recorded {
  core::LaunchPlan plan;
  core::CodeUses foreign_uses;            // of the host code; see closed_world.h
  std::vector<double> compared;           // numbers that the host code compared something with
  std::vector<core::Decision> decisions;  // what it compared with one another
  double host_us = 0;                     // of the host code, per call, as optimized
  bool read_inputs = false;               // the host code read an input: another content, another plan
};
using RecordOutcome = std::variant<Recorded, core::Refused>;
Result<RecordOutcome> RecordPlan(const Slices& slices, const RecordRequest& request);

// SHA-256 over everything that a replay depends on; line numbers and file names are excluded.
std::string PlanDigest(const core::LaunchPlan& plan);

}  // namespace warpwright::source
