// The port through which everything that touches untrusted source or kernels happens, in another process. The daemon's side is
// worker/worker_evaluator.h; tests use tests/support/fake_evaluator.h.
//
// Verbs return an Error when *we* failed (the worker died, a deadline of ours passed) and a value, which may be a refusal, when the
// candidate is at fault.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/inspection.h"
#include "core/kernel_spec.h"
#include "core/launch_plan.h"
#include "core/verdict.h"

namespace warpwright {

// A .cu file: `text` stands for root/file (which may differ or be absent); includes are looked up below `root`.
struct SourceRef {
  std::string root;  // absolute; a checkout or an exported tree
  std::string file;  // relative to root
  std::string text;
};

// A built-in transformation of rewrite/, by id, with its parameters ("block_size" -> "256").
struct RewriteRequest {
  SourceRef source;
  std::string entry;
  std::string kernel;     // empty: the entry's only or hottest
  std::string transform;
  std::map<std::string, std::string> parameters;
};
struct Rewritten {
  std::string text;                 // the whole file
  std::vector<std::string> notes;   // what was done, for the explanation
};
struct RewriteRefusal {
  std::string reason;               // "the row loop writes shared state (line 31)"
  int line = 0;
};
using RewriteOutcome = std::variant<Rewritten, RewriteRefusal>;

// Brings an edited text back to the original as a minimal diff; refuses edits outside the entry, and requires that the spliced
// file slices to the same device code and host code as the edited one.
struct SpliceRequest {
  SourceRef original;
  std::string edited;
  std::string entry;
};
using SpliceOutcome = std::variant<Rewritten, Refused>;

// One buffer argument of a run.
struct BufferContent {
  std::string name;
  std::vector<std::byte> bytes;      // initial content; its size is the buffer's
  bool uninitialized = false;        // reads before writes are faults (outputs, scratch); `bytes` is then poison
  bool read_only = false;            // writes are faults
  int64_t pointer_offset = 0;        // bytes added to the aligned base, for the minimal-alignment case
};
struct ExecuteOptions {
  bool counters = false;             // count, model a time; else only execute
  bool keep_outputs = true;          // return the buffers
  uint64_t guard_bytes = 0;          // > 0: bands of random content on both sides of every buffer that the device does not
                                     // protect otherwise; broken bands come back in ExecuteReply
  uint64_t seed = 1;                 // of guard bands and workspace poison
  uint64_t sample_instructions = 0;  // > 0: stop launching blocks when about so many thread instructions are spent, and
                                     // extrapolate the counters; outputs are then incomplete
  uint64_t instruction_limit = 20'000'000'000;  // thread instructions of a whole run before it counts as an endless loop
  std::optional<Dim3> block_limit;   // of the grid, for tests
};
struct ExecuteRequest {
  SourceRef source;
  KernelSpec spec;
  std::string case_name;             // for messages
  std::map<std::string, ScalarValue> scalars;
  std::vector<BufferContent> buffers;  // every buffer argument, in the order of the signature
  std::string device;                // "sim:h200"
  ExecuteOptions options;
};
struct GuardViolation {
  std::string buffer;
  int64_t offset = 0;                // of the first changed byte: negative before, at least the size behind
  uint64_t bytes = 0;
};
struct Executed {
  std::vector<std::vector<std::byte>> buffers;  // after the run, in the order of the request
  std::vector<LaunchReport> launches;
  double time_us = 0;                // sum over the plan; modelled on the simulator
  bool modelled = true;
  bool sampled = false;
  std::vector<GuardViolation> guards;
  std::string plan_digest, module_key;   // content addresses: identical for identical plan and device code
  std::map<std::string, double> seconds; // where the time went: slice, compile, record, run
};
using ExecuteOutcome = std::variant<CompileFailed, Refused, Faulted, Executed>;

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual Result<Inspection> Inspect(const SourceRef& source) = 0;
  virtual Result<RewriteOutcome> Rewrite(const RewriteRequest& request) = 0;
  virtual Result<SpliceOutcome> Splice(const SpliceRequest& request) = 0;
  virtual Result<ExecuteOutcome> Execute(const ExecuteRequest& request) = 0;
};

}  // namespace warpwright
