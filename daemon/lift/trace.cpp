#include "lift/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>

#include "lift/expression_shadow.h"
#include "lift/path_fork.h"
#include "sim/block_order.h"
#include "sim/instruction.h"
#include "sim/machine.h"
#include "sim/plan_memory.h"

namespace warpwright::lift {
namespace {

constexpr uint64_t kMostForkedBytes = 16 << 20;  // of memory that is kept beside

const std::vector<core::BufferContent>& FirstContents(const TraceRequest& request) {
  return request.earlier_call ? *request.earlier_call : *request.buffers;
}

class PlanTrace {
 public:
  // `memory` refers to `program`, which outlives both.
  PlanTrace(const TraceRequest& request, const sim::Program& program, sim::PlanMemory memory, Graph graph)
      : request_(request),
        program_(program),
        memory_(std::move(memory)),
        trace_{.graph = std::move(graph)},
        shadow_(trace_, program_.code().locations, request.scalars) {}

  Result<TraceOutcome> Run();

 private:
  Status AddMemory();
  // `cut`: between launches.
  Result<std::optional<TraceOutcome>> RunOps(const std::vector<core::PlanOp>& ops, bool cut = false);
  Result<std::optional<TraceOutcome>> RunOp(const core::PlanOp& op);
  Result<std::optional<TraceOutcome>> RunKernel(const core::KernelLaunch& launch);
  Result<std::optional<TraceOutcome>> RunBlocks(const core::KernelLaunch& launch, const sim::KernelCode& kernel,
                                                const std::vector<std::byte>& parameters);
  // Along every path; memory is as before afterwards. nullopt: that cannot be done.
  Result<std::optional<std::vector<PathFork::Choice>>> RunPaths(const core::KernelLaunch& launch,
                                                                const sim::KernelCode& kernel,
                                                                const std::vector<std::byte>& parameters,
                                                                PathFork& fork);
  void ApplyToShadow(const core::PlanOp& op);
  void StartLastCall();
  void Cut();
  bool IsLastLaunch(const core::PlanOp* op) const;
  void ReadBuffers();
  NotTraced Why(const core::Fault& fault) const;

  const TraceRequest& request_;
  const sim::Program& program_;
  sim::PlanMemory memory_;
  Trace trace_;
  ExpressionShadow shadow_;
  uint64_t instructions_ = 0;
};

Status PlanTrace::AddMemory() {
  const core::LaunchPlan& plan = *request_.plan;
  size_t argument = 0;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const sim::PlanMemory::Buffer& buffer = memory_.buffers()[i];
    if (plan.buffers[i].kind != core::PlanBuffer::Kind::kArgument) {
      shadow_.AddMemory(MemoryShadow(buffer.address, buffer.bytes));
      continue;
    }
    if (argument >= request_.dtypes.size())
      return Fail(ErrorCode::kCorrupt, "fewer types of buffers than the plan has arguments");
    const size_t symbol = argument + (request_.earlier_call ? request_.buffers->size() : 0);
    shadow_.AddMemory(MemoryShadow(buffer.address, buffer.bytes, static_cast<int>(symbol), request_.dtypes[argument],
                                   FirstContents(request_)[argument].bytes.data()));
    ++argument;
  }
  const auto& variables = program_.variables();
  for (uint32_t i = 0; i < variables.size(); ++i)
    shadow_.AddMemory(MemoryShadow(memory_.memory().variable_address(i), variables[i].bytes));
  return {};
}

NotTraced PlanTrace::Why(const core::Fault& fault) const {
  if (trace_.graph.full()) return {"node limit", fmt::format("more than {} expressions", request_.node_limit)};
  if (fault.kind == core::Fault::Kind::kInstructionLimit) return {"instruction limit", fault.message};
  return {"unsupported instruction", fault.message};
}

Result<std::optional<TraceOutcome>> PlanTrace::RunKernel(const core::KernelLaunch& launch) {
  const core::KernelResources* resources = request_.module->Find(launch.kernel);
  const sim::KernelCode* kernel = nullptr;
  for (const sim::KernelCode& code : program_.code().kernels)
    if (resources && code.info.symbol == resources->symbol) kernel = &code;
  if (!kernel)
    return Fail(ErrorCode::kCorrupt,
                fmt::format("the plan launches '{}', which is not in the compiled module", launch.kernel));
  WW_ASSIGN(const std::vector<std::byte> parameters, memory_.Parameters(launch, kernel->info));
  std::optional<PathFork> fork;
  std::optional<std::vector<PathFork::Choice>> choices;
  shadow_.StartLaunch(*kernel);
  if (request_.forked.contains(kernel->info.symbol)) {
    fork.emplace(trace_.graph, ExchangesValues(*kernel));
    WW_ASSIGN(choices, RunPaths(launch, *kernel, parameters, *fork));
    if (trace_.graph.full()) return TraceOutcome(Why({}));
    if (choices) shadow_.SetFork(&*fork);
  }
  auto ended = RunBlocks(launch, *kernel, parameters);
  shadow_.SetFork(nullptr);
  if (!ended || *ended || !choices) return ended;
  for (const PathFork::Choice& choice : *choices)
    choice.place.memory->Write(choice.place.offset, choice.bytes,
                               shadow_.builder().IsConst(choice.value) ? kConcrete : choice.value);
  return ended;
}

Result<std::optional<std::vector<PathFork::Choice>>> PlanTrace::RunPaths(const core::KernelLaunch& launch,
                                                                         const sim::KernelCode& kernel,
                                                                         const std::vector<std::byte>& parameters,
                                                                         PathFork& fork) {
  struct SavedMemory {
    MemoryShadow* shadow = nullptr;
    std::span<std::byte> bytes;
    std::vector<std::byte> content;
    MemoryShadow::Saved expressions;
  };
  std::vector<SavedMemory> saved;
  uint64_t total = 0;
  const auto save = [&](uint64_t address, uint64_t bytes) {
    MemoryShadow* shadow = shadow_.FindMemory(address, bytes);
    if (shadow == nullptr) return;
    total += bytes;
    if (total > kMostForkedBytes) return;
    const std::span<std::byte> now = memory_.memory().Bytes(address, bytes);
    saved.push_back({shadow, now, {now.begin(), now.end()}, shadow->Save()});
  };
  for (const sim::PlanMemory::Buffer& buffer : memory_.buffers()) save(buffer.address, buffer.bytes);
  const auto& variables = program_.variables();
  for (uint32_t i = 0; i < variables.size(); ++i) save(memory_.memory().variable_address(i), variables[i].bytes);
  if (total > kMostForkedBytes) return std::nullopt;

  const auto bits = [&](const PathFork::Place& place, uint32_t bytes) {
    uint64_t value = 0;
    std::memcpy(&value, memory_.memory().Bytes(place.memory->base() + place.offset, bytes).data(), bytes);
    return value;
  };
  shadow_.SetFork(&fork);
  do {
    fork.StartRun();
    shadow_.StartLaunch(kernel, /*again=*/true);
    const auto ended = RunBlocks(launch, kernel, parameters);
    if (!ended || *ended) fork.Fail();  // the data do not fit to the path
    fork.EndRun(shadow_.builder(), bits);
    for (const SavedMemory& memory : saved) {
      std::copy(memory.content.begin(), memory.content.end(), memory.bytes.begin());
      memory.shadow->Restore(memory.expressions);
    }
  } while (!fork.failed() && fork.Advance());
  shadow_.SetFork(nullptr);
  shadow_.StartLaunch(kernel, /*again=*/true);
  if (fork.failed()) return std::nullopt;
  return fork.Choices(shadow_.builder(), bits);
}

Result<std::optional<TraceOutcome>> PlanTrace::RunBlocks(const core::KernelLaunch& launch,
                                                         const sim::KernelCode& kernel,
                                                         const std::vector<std::byte>& parameters) {
  sim::RunOptions options;
  options.counters = false;
  options.instruction_limit = request_.instruction_limit - std::min(request_.instruction_limit, instructions_);
  options.shadow = &shadow_;
  options.reverse_warps = request_.block_order != 0;
  WW_ASSIGN(sim::Machine machine, sim::Machine::Create(program_, memory_.memory(),
                                                       {.kernel = kernel.info.symbol,
                                                        .grid = launch.grid,
                                                        .block = launch.block,
                                                        .dynamic_shared_bytes = launch.dynamic_shared_bytes,
                                                        .parameters = parameters},
                                                       options));
  const BlockList some = request_.blocks ? request_.blocks(launch.grid) : BlockList();
  const sim::BlockOrder order(launch.grid.Count(), request_.block_order);
  for (uint64_t place = 0; place < (request_.blocks ? some.size() : launch.grid.Count()); ++place) {
    const uint64_t block = request_.blocks ? some[place] : order.At(place);
    auto outcome = machine.Run(block, block + 1);
    core::Fault* fault = std::get_if<core::Fault>(&outcome);
    if (!fault) continue;
    fault->kernel = launch.kernel;
    if (trace_.graph.full() || fault->kind == core::Fault::Kind::kInstructionLimit ||
        fault->kind == core::Fault::Kind::kNotSimulated)
      return TraceOutcome(Why(*fault));
    return TraceOutcome(std::move(*fault));
  }
  instructions_ += machine.thread_instructions();
  if (trace_.graph.full()) return TraceOutcome(Why({}));
  return std::nullopt;
}

// Before the operation itself, whose source may be its destination.
void PlanTrace::ApplyToShadow(const core::PlanOp& op) {
  Builder& builder = shadow_.builder();
  auto write = [&](uint64_t address, uint64_t bytes) {
    MemoryShadow* memory = bytes > 0 ? shadow_.FindMemory(address, bytes) : nullptr;
    for (uint64_t k = 0; memory && k < bytes; ++k) memory->Write(address - memory->base() + k, 1, kConcrete);
  };
  const auto copy = [&](uint64_t to, uint64_t from, uint64_t bytes) {
    MemoryShadow* source = bytes > 0 ? shadow_.FindMemory(from, bytes) : nullptr;
    MemoryShadow* destination = source ? shadow_.FindMemory(to, bytes) : nullptr;
    if (destination) destination->Copy(builder, to - destination->base(), *source, from - source->base(), bytes);
  };
  std::visit(
      Overload{[&](const core::MemsetOp& o) { write(memory_.Address(o.destination), o.bytes); },
               [&](const core::UploadOp& o) { write(memory_.Address(o.destination), o.bytes.size()); },
               [&](const core::SymbolUploadOp& o) {
                 if (const auto at = memory_.VariableAddress(o.symbol, o.offset)) write(*at, o.bytes.size());
               },
               [&](const core::CopyOp& o) { copy(memory_.Address(o.destination), memory_.Address(o.source), o.bytes); },
               [&](const core::SymbolCopyOp& o) {
                 const auto variable = memory_.VariableAddress(o.symbol, o.offset);
                 if (!variable) return;
                 const uint64_t buffer = memory_.Address(o.buffer);
                 copy(o.to_symbol ? *variable : buffer, o.to_symbol ? buffer : *variable, o.bytes);
               },
               [](const core::KernelLaunch&) {}, [](const core::EventOp&) {}},
      op);
}

Result<std::optional<TraceOutcome>> PlanTrace::RunOps(const std::vector<core::PlanOp>& ops, bool cut) {
  for (const core::PlanOp& op : ops) {
    WW_ASSIGN(std::optional<TraceOutcome> ended, RunOp(op));
    if (ended) return ended;
    if (cut && std::holds_alternative<core::KernelLaunch>(op) && !IsLastLaunch(&op)) Cut();
  }
  return std::nullopt;
}

Result<std::optional<TraceOutcome>> PlanTrace::RunOp(const core::PlanOp& op) {
  if (const auto* launch = std::get_if<core::KernelLaunch>(&op)) return RunKernel(*launch);
  if (const auto fault = memory_.CopiesNothing(op)) return TraceOutcome(Why(*fault));
  ApplyToShadow(op);
  WW_TRY(memory_.Apply(op));
  return std::nullopt;
}

// The arguments are as in the beginning, with symbols of their own; all other memory is as the first call left it.
void PlanTrace::StartLastCall() {
  memory_.ResetArguments(*request_.buffers);
  trace_.branches.clear();
  size_t argument = 0;
  for (size_t i = 0; i < request_.plan->buffers.size(); ++i) {
    if (request_.plan->buffers[i].kind != core::PlanBuffer::Kind::kArgument) continue;
    if (MemoryShadow* memory = shadow_.FindMemory(memory_.buffers()[i].address, 0))
      memory->Restart(static_cast<int>(argument), (*request_.buffers)[argument].bytes.data());
    ++argument;
  }
}

std::optional<core::DType> DTypeOf(sim::Type type) {
  using core::DType;
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI32, DType::kU32, DType::kI64,
                            DType::kI8, DType::kU8})
    if (TypeOf(dtype) == type) return dtype;
  switch (type) {
    case sim::Type::kB32: return DType::kI32;
    case sim::Type::kB64:
    case sim::Type::kU64: return DType::kI64;
    default: return std::nullopt;
  }
}

// What was computed so far becomes leaves.
void PlanTrace::Cut() {
  size_t argument = 0;
  for (size_t i = 0; i < request_.plan->buffers.size(); ++i) {
    const bool is_argument = request_.plan->buffers[i].kind == core::PlanBuffer::Kind::kArgument;
    const size_t position = is_argument ? argument++ : 0;
    const sim::PlanMemory::Buffer& buffer = memory_.buffers()[i];
    MemoryShadow* memory = shadow_.FindMemory(buffer.address, 0);
    if (!memory || !memory->dirty()) continue;
    memory->TakeDirty();
    const ExprId first = memory->FirstExpression();
    if (first == kConcrete) continue;
    TracedIntermediate cut{.argument = is_argument ? static_cast<int>(position) : -1, .elements = {}};
    const auto dtype = is_argument ? std::optional(request_.dtypes[position]) : DTypeOf(trace_.graph[first].type);
    if (!dtype) continue;
    cut.dtype = *dtype;
    const auto bytes = static_cast<uint32_t>(core::SizeOf(*dtype));
    const std::span<const std::byte> content = memory_.memory().Bytes(buffer.address, buffer.bytes);
    const auto number = static_cast<uint16_t>(request_.dtypes.size() + trace_.intermediates.size());
    bool any = false;
    cut.elements.assign(buffer.bytes / bytes, kConcrete);
    for (uint64_t e = 0; e < cut.elements.size(); ++e) {
      if (!memory->IsWritten(e * bytes, bytes)) continue;
      uint64_t bits = 0;
      std::memcpy(&bits, content.data() + e * bytes, bytes);
      ExprId id = memory->Read(shadow_.builder(), e * bytes, bytes, bits);
      if (id == kConcrete) continue;
      id = shadow_.builder().Coerce(id, TypeOf(*dtype));
      if (trace_.graph[id].arity == 0) continue;  // a leaf or a number
      cut.elements[e] = id;
      any = true;
      memory->Write(
          e * bytes, bytes,
          shadow_.builder().Make({.op = ExprOp::kLoad, .type = TypeOf(*dtype), .buffer = number, .payload = e}, bits));
    }
    memory->TakeDirty();
    if (any) trace_.intermediates.push_back(std::move(cut));
  }
}

bool PlanTrace::IsLastLaunch(const core::PlanOp* op) const {
  const auto is_launch = [](const core::PlanOp& o) { return std::holds_alternative<core::KernelLaunch>(o); };
  const core::PlanOp* end = request_.plan->ops.data() + request_.plan->ops.size();
  return std::none_of(op + 1, end, is_launch);
}

void PlanTrace::ReadBuffers() {
  size_t argument = 0;
  for (size_t i = 0; i < request_.plan->buffers.size(); ++i) {
    if (request_.plan->buffers[i].kind != core::PlanBuffer::Kind::kArgument) continue;
    const core::DType dtype = request_.dtypes[argument++];
    const auto bytes = static_cast<uint32_t>(core::SizeOf(dtype));
    const sim::PlanMemory::Buffer& buffer = memory_.buffers()[i];
    const std::span<const std::byte> content = memory_.memory().Bytes(buffer.address, buffer.bytes);
    TracedBuffer traced{.name = request_.plan->buffers[i].name};
    const uint64_t count = buffer.bytes / bytes;
    traced.elements.assign(count, kConcrete);
    traced.written.assign(count, false);
    traced.bits.assign(count, 0);
    MemoryShadow* memory = shadow_.FindMemory(buffer.address, 0);
    for (uint64_t e = 0; e < count; ++e) {
      std::memcpy(&traced.bits[e], content.data() + e * bytes, bytes);
      if (!memory || !memory->IsWritten(e * bytes, bytes)) continue;
      traced.written[e] = true;
      const ExprId id = memory->Read(shadow_.builder(), e * bytes, bytes, traced.bits[e]);
      traced.elements[e] = id == kConcrete ? kConcrete : shadow_.builder().Coerce(id, TypeOf(dtype));
    }
    trace_.buffers.push_back(std::move(traced));
  }
}

Result<TraceOutcome> PlanTrace::Run() {
  const auto begin = std::chrono::steady_clock::now();
  WW_TRY(AddMemory());
  WW_ASSIGN(std::optional<TraceOutcome> ended, RunOps(request_.plan->setup));
  if (!ended && request_.earlier_call) {
    WW_ASSIGN(ended, RunOps(request_.plan->ops));
    StartLastCall();
  }
  if (!ended) {
    WW_ASSIGN(ended, RunOps(request_.plan->ops, request_.cut_launches));
  }
  if (ended) return std::move(*ended);
  ReadBuffers();
  if (trace_.graph.full()) return TraceOutcome(Why({}));
  trace_.locations = program_.code().locations;
  trace_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return TraceOutcome(std::move(trace_));
}

}  // namespace

Result<TraceOutcome> TracePlan(const TraceRequest& request) { return TracePlan(request, Graph(request.node_limit)); }

Result<TraceOutcome> TracePlan(const TraceRequest& request, Graph graph) {
  Result<sim::Program> program = sim::DecodePtx(request.module->ptx, request.decode);
  if (!program) return TraceOutcome(NotTraced{"unsupported instruction", program.error().message});
  WW_ASSIGN(sim::PlanMemory memory, sim::PlanMemory::Create(*request.plan, FirstContents(request), *program, {}));
  return PlanTrace(request, *program, std::move(memory), std::move(graph)).Run();
}

}  // namespace warpwright::lift
