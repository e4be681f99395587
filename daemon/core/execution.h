// A run of a kernel on a device: what it is given, and what comes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "core/code_use.h"
#include "core/kernel_spec.h"
#include "core/launch_plan.h"
#include "core/source_requests.h"
#include "core/state_use.h"
#include "core/verdict.h"

namespace warpwright::core {

// One buffer argument of a run.
struct BufferContent {
  std::string name;
  base::Bytes bytes;           // initial content; its size is the buffer's
  bool uninitialized = false;  // reading before writing is a fault (outputs, scratch); `bytes` is then poison
  bool read_only = false;      // writing is a fault
  int64_t pointer_offset = 0;  // bytes added to the aligned base, for the minimal-alignment case
  // The entry gets the address of this other buffer in place of its own: a call in place.
  std::optional<uint32_t> same_as = {};
  bool absent = false;  // the entry gets a null pointer in its place
  // > 0: the buffer has so many bytes, and its content is `bytes`, over and over. Only the simulator has room for more
  // than there is: it makes what is touched.
  uint64_t repeated_bytes = 0;
  uint32_t element_bytes = 0;  // of the declared type, by which faults count elements; 0: as the access does
  uint64_t Size() const { return repeated_bytes > 0 ? repeated_bytes : bytes.size(); }
};
// Concurrent activity while a kernel runs, to expose results that depend on it. Nothing else runs on the simulator: it
// ignores this.
enum class Perturbation : uint8_t {
  kNone,
  kHalfMultiprocessors,  // the other half is occupied
  kNoise,                // another kernel uses memory at the same time
};
// How buffers are placed at the edge of mapped memory, so that the first access outside on that side faults; read-only
// buffers are mapped read-only. The simulator always faults on both sides.
enum class PageGuard : uint8_t {
  kNone,    // guard bands, if any
  kEnds,    // each buffer ends where its pages end
  kBegins,  // each buffer begins where its pages begin
};
// How much is counted, if counting costs time; the simulator always counts everything.
enum class CounterDepth : uint8_t {
  kTimes,         // no pass, but each launch is timed: for candidates on which no later one is based
  kCore,          // one pass: how much work it is
  kEvidence,      // what evidence is derived from, and the hottest lines
  kSpeedOfLight,  // the expensive ones too: for accepted candidates
};
std::string_view Name(Perturbation perturbation);
std::string_view Name(PageGuard memory);
std::string_view Name(CounterDepth depth);

struct ExecuteOptions {
  bool counters = false;                         // count, and model or measure a time; else only execute
  CounterDepth depth = CounterDepth::kEvidence;  // with `counters`
  // False: buffers without content are left as allocated, for tools that detect reads of uninitialized memory.
  bool poison = true;
  bool keep_outputs = true;  // return the buffers
  // > 0: bands of random content on both sides of every buffer that the device does not protect otherwise;
  // Executed lists the bands that were overwritten.
  uint64_t guard_bytes = 0;
  uint64_t seed = 1;  // of guard bands and workspace poison
  // > 0: stop launching blocks after about this many thread instructions, and extrapolate the counters; outputs are
  // then incomplete.
  uint64_t sample_instructions = 0;
  bool spread = false;  // of a sample: few blocks all over the grid, not the first and the last ones
  // Thread instructions of a whole run before it counts as an endless loop.
  uint64_t instruction_limit = 20'000'000'000;
  std::optional<Dim3> block_limit;  // of the grid, for tests
  PageGuard page_guard = PageGuard::kNone;
  uint32_t runs = 1;  // runs on the same inputs and from the same state; the first one's outputs are returned
  Perturbation perturbation = Perturbation::kNone;
  // With rotated contents (rotated_contents.h), without reloading anything: what they leave, the run finds.
  uint32_t earlier_calls = 0;
  bool extents = false;    // Executed lists how far the entry reached into its buffers: the simulator alone knows
  bool decisions = false;  // tell what the kernels compare that is the same for all threads: the simulator alone can
  // A read of what another block wrote and no fence made visible, or through the read-only path of what the launch
  // wrote, is a fault, and where older values may be read, they are: the simulator alone can tell.
  bool visibility = false;
  bool lines = false;       // tell which lines ran; only the simulator can
  bool nvcc = false;        // run the kernels that nvcc makes of the whole file, not those of the slice
  bool as_written = false;  // compiled without optimization: a 32-bit index wraps where the text says so
  // Ends before the run: what was recorded and compiled then lies in the caches that all processes share.
  bool build_only = false;
};
// A call that will be asked for soon: its launcher may be recorded while another one runs.
struct UpcomingCall {
  std::map<std::string, ScalarValue> scalars;
  std::vector<BufferContent> buffers;  // as they will be, but without content: `repeated_bytes` is their size
};
struct ExecuteRequest {
  SourceRef source;
  KernelSpec spec;
  std::string case_name;  // for messages
  std::map<std::string, ScalarValue> scalars;
  std::vector<BufferContent> buffers;  // every buffer argument, in the order of the signature
  std::string device;                  // "sim:h200"
  ExecuteOptions options;
  std::vector<UpcomingCall> upcoming = {};  // of the same source and spec
  // Not empty: those of a second call on another stream at the same time (core/overlapping_calls.h), of which nothing
  // is returned; only the simulator can.
  std::vector<BufferContent> beside = {};
};
struct GuardViolation {
  std::string buffer;
  int64_t offset = 0;  // of the first changed byte: negative before the buffer, at least its size after it
  uint64_t bytes = 0;
};
// How far an entry reached into a buffer argument.
struct BufferExtent {
  std::string buffer;
  uint64_t read_end = 0, written_end = 0;      // one past the last byte; 0: none
  uint64_t read_bytes = 0, written_bytes = 0;  // different ones
  bool reads_initial = false;                  // some byte was read before the entry had written it
};
// Two numbers that a kernel compares in all of its threads alike: perhaps a relation of arguments at which another path
// begins.
struct Decision {
  double left = 0, right = 0;
  bool equality = false;  // not an order
  bool operator==(const Decision&) const = default;
};
// Bytes that a run left in a buffer of repeated content, which is not returned whole.
struct WrittenPart {
  uint32_t buffer = 0;  // in the order of the request
  uint64_t offset = 0;
  base::Bytes bytes;
};
struct Executed {
  std::vector<base::Bytes> buffers;  // after the run, in the order of the request
  // One entry per buffer: true stands for the request's own bytes, which are then not sent back. Always empty for
  // callers.
  std::vector<bool> as_sent;
  std::vector<LaunchReport> launches;
  double time_us = 0;  // sum over the plan; modelled on the simulator
  // Of the processor in the launcher's own code, per call, without what the runtime takes; 0: the entry is a kernel.
  double host_us = 0;
  bool modelled = true;
  bool sampled = false;
  std::vector<GuardViolation> guards;
  // The number of runs after the first with different bits in a buffer, and the buffers of the first such run.
  uint32_t differing_runs = 0;
  std::vector<base::Bytes> other_buffers;
  std::vector<WrittenPart> parts;            // of buffers of repeated content: ascending
  std::vector<std::string> changed_globals;  // module variables that a run changed, where `state` is not known
  std::vector<StateUse> state;               // of all runs: the simulator alone knows
  // With `visibility`: the first read that got an older value than the newest one, as the fault that it is if the
  // buffers are wrong for it.
  std::optional<Fault> old_read;
  // That the compiled device code and the text name, ascending: a result may depend on them.
  std::vector<double> numbers;
  // With which the launcher compared something, or which it gave to kernels: perhaps sizes at which another path
  // begins. Ascending.
  std::vector<double> compared;
  std::vector<std::string> kernels;   // that the device code has, launched or not
  std::vector<BufferExtent> extents;  // of all buffer arguments, if they were asked for
  std::vector<Decision> decisions;    // if asked for
  CodeUses uses;
  std::vector<LineUse> lines;             // of all launches, if asked for; empty: not known
  std::vector<std::string> notes;         // what could not be measured, with its remedy
  std::string plan_digest, module_key;    // content addresses: identical for identical plan and device code
  std::map<std::string, double> seconds;  // where the time went: slice, record, compile, run, and on a GPU its parts
};
using ExecuteOutcome = std::variant<CompileFailed, Refused, Faulted, Executed>;

}  // namespace warpwright::core
