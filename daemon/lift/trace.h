// Runs a launch plan on the simulator with every value that depends on an input as an expression beside its bits. What
// is in the address of an access, in a loop's count or in a shuffle's lane stays concrete; where such a thing depends
// on an input, the trace says so, and whoever generalises from it heeds that.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/compiled.h"
#include "core/device.h"
#include "core/launch_plan.h"
#include "lift/block_sample.h"
#include "lift/graph.h"
#include "sim/program.h"

namespace warpwright::lift {

struct TraceRequest {
  const core::CompiledModule* module = nullptr;  // of a lifting build (compile: math functions are markers)
  const core::LaunchPlan* plan = nullptr;        // validated
  const std::vector<core::BufferContent>* buffers = nullptr;  // one for each argument of the plan
  std::vector<core::DType> dtypes;                            // of these
  struct Scalar {                                             // floating-point scalars of the entry
    core::DType dtype = core::DType::kF32;
    double value = 0;
    uint16_t position = 0;  // in the signature
  };
  std::vector<Scalar> scalars;
  uint32_t node_limit = 6'000'000;
  uint64_t instruction_limit = 200'000'000;                 // of threads
  std::function<BlockList(const core::Dim3& grid)> blocks;  // of each launch, those that run; null: all
  // Other orders of blocks and warps that must give the same: 0 is the usual one.
  uint64_t block_order = 0;
  sim::DecodeOptions decode;                  // branches that shall not be taken: both sides run
  std::set<std::string, std::less<>> forked;  // kernels that shall run along every path (path_fork.h)
  // The plan runs over these contents first, if they are given, and then over `buffers` without reloading the module or
  // its workspaces; the expressions are those of this second call. What is left of the first one shows as loads from
  // `buffers->size()` + the argument.
  const std::vector<core::BufferContent>* earlier_call = nullptr;
  bool cut_launches = false;  // what a launch wrote is a tensor of its own for those that follow
};

// A branch, an address or a lane that depended on an input and was taken as it happened to be.
struct DataBranch {
  ExprId predicate = kConcrete;  // of a branch: the condition, which was `taken` for this thread
  bool taken = false;
  uint64_t thread = 0;               // in the order of execution: block * threads per block + thread
  uint32_t launch = 0;               // index into Trace::kernels
  uint32_t branch = sim::kNoBranch;  // its number in the kernel, which sim::DecodeOptions takes; not every one has one
  std::string file;
  int line = 0;
};

struct TracedBuffer {
  std::string name;
  // By element; kConcrete: the element was not written, or does not depend on an input (then `bits` has its value).
  std::vector<ExprId> elements;
  std::vector<bool> written;
  std::vector<uint64_t> bits;
};

// What a launch left in a buffer, where launches are cut: kLoad of `buffers.size()` and more refers to these.
struct TracedIntermediate {
  int argument = -1;  // whose memory it is; -1: the launcher's own
  core::DType dtype = core::DType::kF32;
  std::vector<ExprId> elements;  // kConcrete: not of this launch
};

struct Trace {
  Graph graph;
  std::vector<TracedBuffer> buffers;  // every argument, in order
  std::vector<TracedIntermediate> intermediates;
  std::vector<DataBranch> branches;
  std::vector<std::string> kernels;  // symbols of those that were launched, in order
  std::vector<std::string> lossy;    // "a shuffle's lane depends on data (scan.cu:12)": no form may be claimed
  std::vector<sim::SourceLocation> locations;  // Expr::line indexes them
  double seconds = 0;
};

// Why nothing could be traced: in words, with a short class for counting ("unsupported instruction", "node limit").
struct NotTraced {
  std::string blocker;
  std::string message;
};
using TraceOutcome = std::variant<NotTraced, core::Fault, Trace>;

// `graph`: of earlier traces over the same arguments, to which this one's expressions are added; its own limit counts.
Result<TraceOutcome> TracePlan(const TraceRequest& request, Graph graph);
Result<TraceOutcome> TracePlan(const TraceRequest& request);

}  // namespace warpwright::lift
