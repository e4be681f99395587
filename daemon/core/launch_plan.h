// A recording of what a launcher did: the sequence of device operations for one set of arguments. A plan holds no
// addresses: each pointer is a buffer and an offset, so that the plan can be replayed on any device. Plans come from
// untrusted code and are checked by ValidatePlan before anything is replayed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace warpwright::core {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t Count() const { return static_cast<uint64_t>(x) * y * z; }
  bool operator==(const Dim3&) const = default;
};

// Index into LaunchPlan::buffers, and a byte offset into it (one past the end is a legal pointer value).
struct DevicePointer {
  uint32_t buffer = 0;
  int64_t offset = 0;
  bool operator==(const DevicePointer&) const = default;
};

struct PlanBuffer {
  enum class Kind { kArgument, kWorkspace };
  Kind kind = Kind::kArgument;
  std::string name;  // argument name, or "workspace 0"
  uint64_t bytes = 0;
  bool kept = false;  // of a workspace: it outlives the call, and the next one uses it again
  bool operator==(const PlanBuffer&) const = default;
};

// One parameter of a kernel: its bytes, with the pointers in it (also those in by-value structs) at their byte offsets.
struct KernelParameter {
  std::vector<std::byte> bytes;
  std::map<uint32_t, DevicePointer> pointers;
  bool operator==(const KernelParameter&) const = default;
};

struct KernelLaunch {
  std::string kernel;  // name expression in source form: "softmax<float, 4>"; key of CompiledModule::kernels
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  std::vector<KernelParameter> parameters;
  uint32_t stream = 0;
  bool cooperative = false;
  std::string file;  // that contains the launch
  int line = 0;
  bool operator==(const KernelLaunch&) const = default;
};
struct MemsetOp {
  DevicePointer destination;
  uint32_t value = 0;  // of `unit` bytes
  uint32_t unit = 1;   // 1, 2 or 4
  uint64_t bytes = 0;
  uint32_t stream = 0;
  bool operator==(const MemsetOp&) const = default;
};
struct CopyOp {  // device to device
  DevicePointer destination, source;
  uint64_t bytes = 0;
  uint32_t stream = 0;
  bool operator==(const CopyOp&) const = default;
};
struct UploadOp {  // host to device: the bytes as the launcher passed them
  DevicePointer destination;
  std::vector<std::byte> bytes;
  uint32_t stream = 0;
  bool operator==(const UploadOp&) const = default;
};
struct SymbolUploadOp {  // cudaMemcpyToSymbol
  std::string symbol;    // source form
  uint64_t offset = 0;
  std::vector<std::byte> bytes;
  uint32_t stream = 0;
  bool operator==(const SymbolUploadOp&) const = default;
};
struct SymbolCopyOp {  // between a buffer and a symbol, on the device
  std::string symbol;  // source form
  uint64_t offset = 0;
  DevicePointer buffer;
  uint64_t bytes = 0;
  uint32_t stream = 0;
  bool to_symbol = true;
  bool operator==(const SymbolCopyOp&) const = default;
};
struct EventOp {
  enum class Kind { kRecord, kWait };  // stream `stream` records or waits for event `event`
  Kind kind = Kind::kRecord;
  uint32_t event = 0;
  uint32_t stream = 0;
  bool operator==(const EventOp&) const = default;
};
using PlanOp = std::variant<KernelLaunch, MemsetOp, CopyOp, UploadOp, SymbolUploadOp, SymbolCopyOp, EventOp>;

struct LaunchPlan {
  std::vector<PlanBuffer> buffers;  // the buffer arguments in the order of the signature, then workspaces
  // Done once per process (static scratch, symbols), before the first `ops`; never on arguments.
  std::vector<PlanOp> setup;
  std::vector<PlanOp> ops;
  // Stream 0 is one that the caller gives, which the others neither wait for nor precede; else the default stream.
  bool has_callers_stream = false;
  bool operator==(const LaunchPlan&) const = default;
};

// Every pointer of the operation.
void VisitPointers(PlanOp& op, const std::function<void(DevicePointer&)>& visit);

// What is said where a copy cannot be done, since the compiler dropped its source.
std::string CopiesFromDropped(const std::string& symbol);

// Checks that every pointer is inside its buffer, every memset, copy and upload inside its destination, and all sizes
// and counts within limits (4,096 operations, grid and block as the chip allows: 1,024 threads, grid.y and grid.z at
// most 65,535).
Status ValidatePlan(const LaunchPlan& plan);

}  // namespace warpwright::core
