// The memory of one run of a launch plan: its buffers with their guard bands, the module's variables, and the plan's
// operations other than launches.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "core/evaluator.h"
#include "core/launch_plan.h"
#include "sim/memory.h"
#include "sim/program.h"

namespace warpwright::sim {

class PlanMemory {
 public:
  struct Options {
    uint64_t guard_bytes = 0;  // on each side of a buffer
    uint64_t seed = 0;         // of what guards and workspaces contain
    bool scattered = false;    // Memory::Scatter
  };
  struct Buffer {
    uint64_t address = 0;  // of the content
    uint64_t bytes = 0;
    uint64_t guard = 0;  // bytes on each side
    bool sparse = false;
  };

  // `contents`: one for each argument of the plan. All of these outlive the memory.
  static Result<PlanMemory> Create(const core::LaunchPlan& plan, const std::vector<core::BufferContent>& contents,
                                   const Program& program, const Options& options);

  const core::LaunchPlan& plan() const { return *plan_; }
  Memory& memory() { return memory_; }
  const Memory& memory() const { return memory_; }
  const std::vector<Buffer>& buffers() const { return buffers_; }  // as in the plan
  uint64_t Address(const core::DevicePointer& pointer) const {
    return buffers_[pointer.buffer].address + static_cast<uint64_t>(pointer.offset);
  }

  // What a memset, a copy or an upload wrote; `moved`: bytes read and written.
  struct Written {
    uint64_t address = 0, bytes = 0, moved = 0;
  };
  // Nothing for launches, events, uploads to variables, and copies to those that the compiler dropped.
  Result<std::optional<Written>> Apply(const core::PlanOp& op);
  // Where that byte of a variable is; nothing if the compiler dropped it, since no kernel uses it.
  std::optional<uint64_t> VariableAddress(const std::string& symbol, uint64_t offset) const;
  // A copy from a variable that the compiler dropped: what would have been in it is not known.
  std::optional<core::Fault> CopiesNothing(const core::PlanOp& op) const;

  // As Launch::parameters.
  Result<std::vector<std::byte>> Parameters(const core::KernelLaunch& launch, const KernelInfo& info) const;
  // The arguments' content and what of it has a value are again those given to Create.
  void ResetArguments(const std::vector<core::BufferContent>& contents);
  // Memory that nothing has written becomes zero and readable: zero is a legal index and a harmless number.
  void Settle();
  // What a run left in buffers of repeated content, at most so many bytes of each.
  std::vector<core::WrittenPart> Parts(const std::vector<core::BufferContent>& contents, uint64_t most) const;
  std::vector<core::GuardViolation> ViolatedGuards() const;

 private:
  PlanMemory(const core::LaunchPlan& plan, const Program& program, const Options& options)
      : plan_(&plan), program_(&program), options_(options) {}
  Status Allocate(const core::PlanBuffer& plan_buffer, const core::BufferContent* content, bool sparse);
  Result<std::span<std::byte>> Bytes(const core::DevicePointer& pointer, uint64_t bytes) const;
  Result<std::optional<Written>> Memset(const core::MemsetOp& op);
  Result<std::optional<Written>> Copy(const core::CopyOp& op);
  Result<std::optional<Written>> Upload(const core::UploadOp& op);
  Result<std::optional<Written>> UploadSymbol(const core::SymbolUploadOp& op);
  Result<std::optional<Written>> CopySymbol(const core::SymbolCopyOp& op);
  Status CheckVariable(const std::string& symbol, uint64_t offset, uint64_t bytes, const char* what) const;
  void MarkWritten(const core::DevicePointer& pointer, uint64_t bytes);

  const core::LaunchPlan* plan_;
  const Program* program_;
  Options options_;
  Memory memory_;
  std::vector<Buffer> buffers_;
};

}  // namespace warpwright::sim
