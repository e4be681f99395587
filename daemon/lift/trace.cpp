#include "lift/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include "lift/expression_shadow.h"
#include "sim/block_order.h"
#include "sim/instruction.h"
#include "sim/machine.h"
#include "sim/plan_memory.h"

namespace warpwright::lift {
namespace {

class PlanTrace {
 public:
  // `memory` refers to `program`, which outlives both.
  PlanTrace(const TraceRequest& request, const sim::Program& program, sim::PlanMemory memory)
      : request_(request),
        program_(program),
        memory_(std::move(memory)),
        trace_{.graph = Graph(request.node_limit)},
        shadow_(trace_, program_.code().locations, request.scalars) {}

  Result<TraceOutcome> Run();

 private:
  Status AddMemory();
  Result<std::optional<TraceOutcome>> RunOp(const core::PlanOp& op);
  Result<std::optional<TraceOutcome>> RunKernel(const core::KernelLaunch& launch);
  void ApplyToShadow(const core::PlanOp& op);
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
    shadow_.AddMemory(MemoryShadow(buffer.address, buffer.bytes, static_cast<int>(argument), request_.dtypes[argument],
                                   (*request_.buffers)[argument].bytes.data()));
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
  sim::RunOptions options;
  options.counters = false;
  options.instruction_limit = request_.instruction_limit - std::min(request_.instruction_limit, instructions_);
  options.shadow = &shadow_;
  options.reverse_warps = request_.block_order != 0;
  WW_ASSIGN(sim::Machine machine, sim::Machine::Create(program_, memory_.memory(),
                                                       {.kernel = kernel->info.symbol,
                                                        .grid = launch.grid,
                                                        .block = launch.block,
                                                        .dynamic_shared_bytes = launch.dynamic_shared_bytes,
                                                        .parameters = parameters},
                                                       options));
  shadow_.StartLaunch(*kernel);
  const sim::BlockOrder order(launch.grid.Count(), request_.block_order);
  for (uint64_t place = 0; place < launch.grid.Count(); ++place) {
    const uint64_t block = order.At(place);
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
  std::visit(Overload{[&](const core::MemsetOp& o) { write(memory_.Address(o.destination), o.bytes); },
                      [&](const core::UploadOp& o) { write(memory_.Address(o.destination), o.bytes.size()); },
                      [&](const core::SymbolUploadOp& o) {
                        if (const auto address = memory_.VariableAddress(o)) write(*address, o.bytes.size());
                      },
                      [&](const core::CopyOp& o) {
                        const uint64_t to = memory_.Address(o.destination), from = memory_.Address(o.source);
                        MemoryShadow* source = o.bytes > 0 ? shadow_.FindMemory(from, o.bytes) : nullptr;
                        MemoryShadow* destination = source ? shadow_.FindMemory(to, o.bytes) : nullptr;
                        if (destination)
                          destination->Copy(builder, to - destination->base(), *source, from - source->base(), o.bytes);
                      },
                      [](const auto&) {}},
             op);
}

Result<std::optional<TraceOutcome>> PlanTrace::RunOp(const core::PlanOp& op) {
  if (const auto* launch = std::get_if<core::KernelLaunch>(&op)) return RunKernel(*launch);
  ApplyToShadow(op);
  WW_TRY(memory_.Apply(op));
  return std::nullopt;
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
  for (const core::PlanOp& op : request_.plan->setup) {
    WW_ASSIGN(std::optional<TraceOutcome> ended, RunOp(op));
    if (ended) return std::move(*ended);
  }
  for (int run = 0; run < request_.runs; ++run) {
    for (const core::PlanOp& op : request_.plan->ops) {
      WW_ASSIGN(std::optional<TraceOutcome> ended, RunOp(op));
      if (ended) return std::move(*ended);
      if (request_.cut_launches && std::holds_alternative<core::KernelLaunch>(op) && !IsLastLaunch(&op)) Cut();
    }
  }
  ReadBuffers();
  if (trace_.graph.full()) return TraceOutcome(Why({}));
  trace_.locations = program_.code().locations;
  trace_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return TraceOutcome(std::move(trace_));
}

}  // namespace

Result<TraceOutcome> TracePlan(const TraceRequest& request) {
  Result<sim::Program> program = sim::DecodePtx(request.module->ptx, request.decode);
  if (!program) return TraceOutcome(NotTraced{"unsupported instruction", program.error().message});
  WW_ASSIGN(sim::PlanMemory memory, sim::PlanMemory::Create(*request.plan, *request.buffers, *program, {}));
  return PlanTrace(request, *program, std::move(memory)).Run();
}

}  // namespace warpwright::lift
