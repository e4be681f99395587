// A launch plan, enqueued. Streams and events of the plan are streams and events of the device; the plan begins after
// the work on the main stream, and the main stream continues after the whole plan.
#pragma once

#include <map>
#include <vector>

#include "gpu/buffer_set.h"

namespace warpwright::gpu {

class Replay {
 public:
  // `plan`, `module` and `buffers` must outlive it. Prepares every launch; a Fault if one does not fit on the GPU.
  static Result<std::variant<core::Fault, Replay>> Create(Context& context, LoadedModule& module,
                                                          const core::LaunchPlan& plan, const BufferSet& buffers);

  Step Setup(CUstream main) { return Enqueue(plan_->setup, main); }
  Step Run(CUstream main) { return Enqueue(plan_->ops, main); }
  // Records an event before and after every kernel: 2 * launches() events, in order.
  Step RunMarked(CUstream main, std::vector<Event>& marks);
  // What Run launches, in order.
  std::vector<const core::KernelLaunch*> Launches() const;

 private:
  struct Launch {
    CUfunction function = nullptr;
    std::vector<std::vector<std::byte>> parameters;
  };
  Replay(Context& context, LoadedModule& module, const core::LaunchPlan& plan, const BufferSet& buffers)
      : context_(&context), module_(&module), plan_(&plan), buffers_(&buffers) {}
  Step Prepare(const std::vector<core::PlanOp>& ops);
  Step PrepareLaunch(const core::KernelLaunch& launch);
  Step Enqueue(const std::vector<core::PlanOp>& ops, CUstream main);
  Step EnqueueSymbolCopy(const core::SymbolCopyOp& copy, CUstream stream);
  Step EnqueueOp(const core::PlanOp& op, CUstream stream);
  Step EnqueueLaunch(const core::KernelLaunch& launch, CUstream stream);
  Status Mark(CUstream stream);
  Result<CUstream> StreamOf(uint32_t stream, CUstream main);
  Status Join(CUstream main);

  Context* context_;
  LoadedModule* module_;
  const core::LaunchPlan* plan_;
  const BufferSet* buffers_;
  std::map<const core::KernelLaunch*, Launch> launches_;
  std::map<uint32_t, Stream> streams_;
  std::map<uint32_t, Event> events_;
  std::vector<Event> join_;       // one for each stream other than the main one, and one for the fork
  std::vector<uint32_t> forked_;  // streams in use in this run
  std::vector<Event>* marks_ = nullptr;
};

}  // namespace warpwright::gpu
