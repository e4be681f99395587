// Runs blocks of one kernel launch. A Machine is the state of one host thread: registers, shared and local memory,
// counters. Several machines may run disjoint ranges of blocks of one launch at the same time over one Memory, except
// if Program::UsesGlobalAtomics requires that the blocks run in order.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <variant>

#include "base/result.h"
#include "core/counters.h"
#include "core/launch_plan.h"
#include "core/verdict.h"
#include "sim/memory.h"
#include "sim/program.h"

namespace warpwright::sim {

class Shadow;      // shadow.h
class Visibility;  // exec/visibility.h

// The cache models identify a 128-byte line by 32 bits. Global lines are less than 2^31 lines after the base and have
// unique tags, neighbours have neighbouring ones; those of local memory are hashed into the upper half.
uint32_t LineTag(uint64_t line);

// One warp instruction that reached global memory (local memory too: its addresses are per warp and interleaved by
// lane).
struct MemoryRequest {
  enum class Kind : uint8_t { kRead, kWrite, kAtomic };
  Kind kind = Kind::kRead;
  bool cached_in_l1 = true;  // false: volatile, .cg, .cv and similar
  uint64_t block = 0;        // linear index
  uint32_t warp = 0;         // in the block
  // The lines that it touches, each once, at most kMaxLines: the tag of the k-th is first_tag + lines[k], and
  // sectors[k] is a mask of the 32-byte sectors that are touched in it. Both arrays can be read up to kPadding elements
  // beyond `count`.
  static constexpr uint32_t kMaxLines = 128, kPadding = 3;
  uint32_t first_tag = 0, count = 0;
  const uint32_t* lines = nullptr;
  const uint8_t* sectors = nullptr;
  uint32_t line = 0;        // of the source: index into Machine::lines()
  uint32_t collisions = 0;  // of an atomic: lanes that meet at one address and take turns, beyond the first
};
class MemoryObserver {
 public:
  virtual ~MemoryObserver() = default;
  virtual void OnRequest(const MemoryRequest& request) = 0;
};

struct Launch {
  std::string_view kernel;  // symbol
  core::Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte> parameters;  // laid out as in KernelInfo::parameters, pointers as device addresses
  uint64_t grid_workspace = 0;            // of a cooperative launch: where its blocks meet; see kGridWorkspaceBytes
};

struct RunOptions {
  bool counters = true;
  bool checks =
      true;  // uninitialised reads and shared-memory races; bounds, alignment and read-only are always checked
  uint64_t instruction_limit = 20'000'000'000;  // thread instructions of this machine
  MemoryObserver* observer = nullptr;           // needs counters
  std::function<void(std::string_view)> print;  // what the kernel's printf writes
  uint32_t shared_limit_bytes = 228 * 1024;     // static and dynamic
  Shadow* shadow = nullptr;                     // runs beside; the machine is slower then
  Visibility* visibility = nullptr;             // of the launch, if that is checked
  bool reverse_warps = false;                   // of a block: the last one is the first to run
  // Lanes that ask which of them are active (__activemask) go on in two halves from there to where they must meet, as
  // lanes of a GPU may at any instruction.
  bool split_lanes = false;
};

// What cooperative_groups::grid_group needs in global memory: the address is in %envreg1 and %envreg2, the second word
// counts the blocks that have arrived below its top bit, which is the barrier's phase.
inline constexpr uint64_t kGridWorkspaceBytes = 64;

class Machine {
 public:
  // Rejects an invalid launch (unknown symbol, wrong parameter size, too many threads) and a CPU without AVX2 and FMA.
  // `program` and `memory` outlive the machine; LoadModule has been called.
  static Result<Machine> Create(const Program& program, Memory& memory, const Launch& launch, RunOptions options);
  // What the blocks that are run from now on may take, in place of the options' limit; also after a block that had
  // spent it: that block is given up.
  void Allow(uint64_t thread_instructions);
  Machine(Machine&&) noexcept;
  Machine& operator=(Machine&&) noexcept;
  ~Machine();

  // Runs the blocks [first, last) in the order of their linear index. After a Fault the machine must not be used again.
  // May be called again.
  std::variant<std::monostate, core::Fault> Run(uint64_t first, uint64_t last);

  // The same for one block in turns with those of other machines, because it may wait for them: Begin, then Advance
  // until it is done (true) or faults.
  void Begin(uint64_t block);
  std::variant<bool, core::Fault> Advance();

  // Sums over all runs so far. The memory hierarchy's hits and misses are filled in by the observer.
  core::Counters counters() const;
  std::vector<core::LineCounters> line_counters() const;  // index = MemoryRequest::line; file and line set
  // Those of the kernel's code, whether or not they ran, each once; counted without `counters` too.
  std::vector<core::LineUse> line_uses() const;
  uint64_t thread_instructions() const;
  // How often each basic block of KernelCode::blocks was entered, by warp of a block: [warp][basic block]. The cost
  // model weights instructions with it.
  std::vector<std::vector<uint64_t>> block_counts() const;

 private:
  struct State;
  explicit Machine(std::unique_ptr<State> state);
  static Result<Machine> Make(const Program& program, Memory& memory, const Launch& launch, RunOptions options);
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::sim
