#include "gpu/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace warpwright::gpu {
namespace {

constexpr uint32_t kStaticShared = 48u << 10;  // what a launch gets without opting in

uint32_t StreamOfOp(const core::PlanOp& op) {
  return std::visit([](const auto& o) { return o.stream; }, op);
}

}  // namespace

Result<std::variant<core::Fault, Replay>> Replay::Create(Context& context, LoadedModule& module,
                                                         const core::LaunchPlan& plan, const BufferSet& buffers) {
  using Outcome = std::variant<core::Fault, Replay>;
  Replay replay(context, module, plan, buffers);
  for (const auto* ops : {&plan.setup, &plan.ops}) {
    WW_ASSIGN(auto fault, replay.Prepare(*ops));
    if (fault) return Outcome(std::move(*fault));
  }
  return Outcome(std::move(replay));
}

std::vector<const core::KernelLaunch*> Replay::Launches() const {
  std::vector<const core::KernelLaunch*> launches;
  for (const core::PlanOp& op : plan_->ops)
    if (const auto* launch = std::get_if<core::KernelLaunch>(&op)) launches.push_back(launch);
  return launches;
}

Step Replay::RunMarked(CUstream main, std::vector<Event>& marks) {
  marks_ = &marks;
  Step step = Run(main);
  marks_ = nullptr;
  return step;
}

Status Replay::Mark(CUstream stream) {
  if (marks_ == nullptr) return {};
  WW_ASSIGN(Event mark, Event::Create(*context_, true));
  marks_->push_back(std::move(mark));
  return context_->driver().Check(context_->driver().EventRecord(marks_->back().get(), stream), "cuEventRecord");
}

Step Replay::Prepare(const std::vector<core::PlanOp>& ops) {
  for (const core::PlanOp& op : ops) {
    // Created now, and not while the stream is held: creation may wait for what is enqueued.
    if (const uint32_t stream = StreamOfOp(op); stream != 0 && !streams_.contains(stream)) {
      WW_ASSIGN(Stream made, Stream::Create(*context_));
      streams_.emplace(stream, std::move(made));
    }
    if (const auto* launch = std::get_if<core::KernelLaunch>(&op)) WW_STEP(PrepareLaunch(*launch));
  }
  return std::nullopt;
}

Step Replay::PrepareLaunch(const core::KernelLaunch& launch) {
  Launch prepared;
  WW_ASSIGN(prepared.function, module_->Function(launch.kernel));
  const CudaDriver& driver = context_->driver();
  if (launch.dynamic_shared_bytes > kStaticShared) {
    const CUresult result = driver.FuncSetAttribute(prepared.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                    static_cast<int>(launch.dynamic_shared_bytes));
    WW_STEP(context_->Judge(result, "cuFuncSetAttribute", launch.kernel));
  }
  for (const core::KernelParameter& parameter : launch.parameters) {
    auto& bytes = prepared.parameters.emplace_back(parameter.bytes);
    for (const auto& [at, pointer] : parameter.pointers) {
      const CUdeviceptr address = buffers_->Address(pointer);
      if (at + sizeof address > bytes.size()) return Fail(ErrorCode::kCorrupt, "a pointer beyond its parameter");
      std::memcpy(bytes.data() + at, &address, sizeof address);
    }
  }
  launches_.emplace(&launch, std::move(prepared));
  return std::nullopt;
}

Result<CUstream> Replay::StreamOf(uint32_t stream, CUstream main) {
  if (stream == 0) return main;
  const CUstream handle = streams_.at(stream).get();
  if (std::find(forked_.begin(), forked_.end(), stream) == forked_.end()) {
    WW_ASSIGN(Event fork, Event::Create(*context_, false));
    const CudaDriver& driver = context_->driver();
    WW_TRY(driver.Check(driver.EventRecord(fork.get(), main), "cuEventRecord"));
    WW_TRY(driver.Check(driver.StreamWaitEvent(handle, fork.get(), 0), "cuStreamWaitEvent"));
    join_.push_back(std::move(fork));
    forked_.push_back(stream);
  }
  return handle;
}

Status Replay::Join(CUstream main) {
  const CudaDriver& driver = context_->driver();
  for (const uint32_t stream : forked_) {
    WW_ASSIGN(Event done, Event::Create(*context_, false));
    WW_TRY(driver.Check(driver.EventRecord(done.get(), streams_.at(stream).get()), "cuEventRecord"));
    WW_TRY(driver.Check(driver.StreamWaitEvent(main, done.get(), 0), "cuStreamWaitEvent"));
    join_.push_back(std::move(done));
  }
  forked_.clear();
  join_.clear();  // an event may be destroyed before it has completed
  return {};
}

Step Replay::Enqueue(const std::vector<core::PlanOp>& ops, CUstream main) {
  for (const core::PlanOp& op : ops) {
    // The default stream waits for the others and they for it, as in the runtime. (For those created as non-blocking
    // that is more ordering than requested.)
    if (StreamOfOp(op) == 0 && !forked_.empty()) WW_TRY(Join(main));
    WW_ASSIGN(const CUstream stream, StreamOf(StreamOfOp(op), main));
    WW_STEP(EnqueueOp(op, stream));
  }
  WW_TRY(Join(main));
  return std::nullopt;
}

Step Replay::EnqueueLaunch(const core::KernelLaunch& launch, CUstream stream) {
  const CudaDriver& driver = context_->driver();
  Launch& prepared = launches_.at(&launch);
  std::vector<void*> parameters;
  for (auto& bytes : prepared.parameters) parameters.push_back(bytes.data());
  const core::Dim3 &g = launch.grid, &b = launch.block;
  WW_TRY(Mark(stream));
  if (launch.cooperative)
    WW_STEP(context_->Judge(driver.LaunchCooperativeKernel(prepared.function, g.x, g.y, g.z, b.x, b.y, b.z,
                                                           launch.dynamic_shared_bytes, stream, parameters.data()),
                            "cuLaunchCooperativeKernel", launch.kernel));
  else
    WW_STEP(context_->Judge(driver.LaunchKernel(prepared.function, g.x, g.y, g.z, b.x, b.y, b.z,
                                                launch.dynamic_shared_bytes, stream, parameters.data(), nullptr),
                            "cuLaunchKernel", launch.kernel));
  WW_TRY(Mark(stream));
  return std::nullopt;
}

Step Replay::EnqueueSymbolCopy(const core::SymbolCopyOp& copy, CUstream stream) {
  const ModuleVariable* variable = module_->Symbol(copy.symbol);
  if (variable == nullptr && !copy.to_symbol) {
    core::Fault fault;
    fault.kind = core::Fault::Kind::kNotSimulated;
    fault.message = core::CopiesFromDropped(copy.symbol);
    return fault;
  }
  if (variable == nullptr || copy.bytes == 0) return std::nullopt;  // the compiler removed it
  if (copy.offset > variable->bytes || copy.bytes > variable->bytes - copy.offset)
    return Fail(ErrorCode::kCorrupt, fmt::format("a copy leaves the variable '{}'", copy.symbol));
  const CUdeviceptr at = variable->address + copy.offset, buffer = buffers_->Address(copy.buffer);
  return context_->Judge(context_->driver().MemcpyDtoDAsync(copy.to_symbol ? at : buffer, copy.to_symbol ? buffer : at,
                                                            copy.bytes, stream),
                         "cuMemcpyDtoDAsync");
}

Step Replay::EnqueueOp(const core::PlanOp& op, CUstream stream) {
  const CudaDriver& driver = context_->driver();
  return std::visit(
      Overload{[&](const core::KernelLaunch& launch) { return EnqueueLaunch(launch, stream); },
               [&](const core::MemsetOp& set) -> Step {
                 const CUdeviceptr to = buffers_->Address(set.destination);
                 if (set.bytes == 0) return std::nullopt;
                 const CUresult result =
                     set.unit == 4 ? driver.MemsetD32Async(to, set.value, set.bytes / 4, stream)
                     : set.unit == 2
                         ? driver.MemsetD16Async(to, static_cast<unsigned short>(set.value), set.bytes / 2, stream)
                         : driver.MemsetD8Async(to, static_cast<unsigned char>(set.value), set.bytes, stream);
                 return context_->Judge(result, "cuMemsetAsync");
               },
               [&](const core::CopyOp& copy) -> Step {
                 if (copy.bytes == 0) return std::nullopt;
                 return context_->Judge(driver.MemcpyDtoDAsync(buffers_->Address(copy.destination),
                                                               buffers_->Address(copy.source), copy.bytes, stream),
                                        "cuMemcpyDtoDAsync");
               },
               [&](const core::UploadOp& upload) -> Step {
                 if (upload.bytes.empty()) return std::nullopt;
                 return context_->Judge(driver.MemcpyHtoDAsync(buffers_->Address(upload.destination),
                                                               upload.bytes.data(), upload.bytes.size(), stream),
                                        "cuMemcpyHtoDAsync");
               },
               [&](const core::SymbolUploadOp& upload) -> Step {
                 const ModuleVariable* variable = module_->Symbol(upload.symbol);
                 if (variable == nullptr || upload.bytes.empty())
                   return std::nullopt;  // the compiler removes a variable that no kernel reads
                 if (upload.offset > variable->bytes || upload.bytes.size() > variable->bytes - upload.offset)
                   return Fail(ErrorCode::kCorrupt, fmt::format("an upload leaves the variable '{}'", upload.symbol));
                 return context_->Judge(driver.MemcpyHtoDAsync(variable->address + upload.offset, upload.bytes.data(),
                                                               upload.bytes.size(), stream),
                                        "cuMemcpyHtoDAsync");
               },
               [&](const core::SymbolCopyOp& copy) { return EnqueueSymbolCopy(copy, stream); },
               [&](const core::EventOp& event) -> Step {
                 auto found = events_.find(event.event);
                 if (event.kind == core::EventOp::Kind::kWait) {
                   if (found == events_.end()) return std::nullopt;  // never recorded: nothing to wait for
                   return context_->Judge(driver.StreamWaitEvent(stream, found->second.get(), 0), "cuStreamWaitEvent");
                 }
                 if (found == events_.end()) {
                   WW_ASSIGN(Event made, Event::Create(*context_, false));
                   found = events_.emplace(event.event, std::move(made)).first;
                 }
                 return context_->Judge(driver.EventRecord(found->second.get(), stream), "cuEventRecord");
               }},
      op);
}

}  // namespace warpwright::gpu
