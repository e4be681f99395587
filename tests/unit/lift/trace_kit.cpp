#include "tests/unit/lift/trace_kit.h"

#include <bit>
#include <cmath>

#include "compile/compiler.h"
#include "core/dtype.h"

namespace warpwright::lift {
namespace {

uint64_t BitsOf(core::DType dtype, double value) {
  switch (dtype) {
    case core::DType::kF64: return std::bit_cast<uint64_t>(value);
    case core::DType::kF32: return std::bit_cast<uint32_t>(static_cast<float>(value));
    case core::DType::kF16: return core::DoubleToHalf(value);
    case core::DType::kBF16: return core::FloatToBFloat16(static_cast<float>(value));
    default: return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

// Both as ordered integers.
uint64_t Distance(core::DType dtype, uint64_t a, uint64_t b) {
  if (a == b || !core::IsFloat(dtype)) return a == b ? 0 : UINT64_MAX;
  const uint64_t sign = 1ull << (8 * core::SizeOf(dtype) - 1);
  auto order = [&](uint64_t v) { return static_cast<int64_t>(v & sign ? 0 - (v & ~sign) : v); };
  const int64_t d = order(a) - order(b);
  return static_cast<uint64_t>(d < 0 ? -d : d);
}

}  // namespace

TraceKit TraceKit::FromCuda(const std::string& source, const std::vector<std::string>& kernels) {
  TraceKit kit;
  static const compile::Compiler compiler = std::move(*compile::Compiler::Create({}));
  compile::CompileRequest request{"kernel.cu", source, {}, kernels, "sm_90"};
  request.build = compile::Build::kMarkers;
  const auto outcome = compiler.Compile(request);
  EXPECT_TRUE(outcome) << outcome.error().Format();
  if (!outcome) return kit;
  if (const auto* failed = std::get_if<core::CompileFailed>(&*outcome)) ADD_FAILURE() << failed->log;
  else kit.module = std::get<core::CompiledModule>(*outcome);
  return kit;
}

TraceKit TraceKit::FromPtx(const std::string& ptx, const std::vector<std::string>& kernels) {
  TraceKit kit;
  kit.module.ptx = ptx;
  for (const std::string& kernel : kernels) kit.module.kernels.push_back({.kernel = kernel, .symbol = kernel});
  return kit;
}

uint32_t TraceKit::Argument(const std::string& name, core::DType dtype, size_t count,
                            const std::function<double(size_t)>& value) {
  const size_t bytes = core::SizeOf(dtype);
  core::BufferContent content{.name = name};
  std::vector<std::byte> initial(count * bytes);
  content.uninitialized = !value;
  for (size_t i = 0; value && i < count; ++i) {
    const uint64_t bits = BitsOf(dtype, value(i));
    std::memcpy(initial.data() + i * bytes, &bits, bytes);
  }
  content.bytes = std::move(initial);
  buffers.push_back(std::move(content));
  request.dtypes.push_back(dtype);
  plan.buffers.push_back({core::PlanBuffer::Kind::kArgument, name, count * bytes});
  return static_cast<uint32_t>(plan.buffers.size() - 1);
}

uint32_t TraceKit::Workspace(size_t bytes) {
  plan.buffers.push_back({core::PlanBuffer::Kind::kWorkspace, "workspace", bytes});
  return static_cast<uint32_t>(plan.buffers.size() - 1);
}

void TraceKit::Put(core::KernelLaunch& launch, Pointer pointer) {
  core::KernelParameter parameter;
  parameter.bytes.resize(8);
  parameter.pointers[0] = {pointer.buffer, pointer.offset};
  launch.parameters.push_back(std::move(parameter));
}

TraceOutcome TraceKit::Outcome() {
  request.module = &module;
  request.plan = &plan;
  request.buffers = &buffers;
  auto outcome = TracePlan(request);
  if (!outcome) {
    ADD_FAILURE() << outcome.error().Format();
    return NotTraced{"error", outcome.error().message};
  }
  return std::move(*outcome);
}

Trace TraceKit::Run(uint64_t ulps) {
  TraceOutcome outcome = Outcome();
  if (const auto* not_traced = std::get_if<NotTraced>(&outcome))
    ADD_FAILURE() << not_traced->blocker << ": " << not_traced->message;
  if (const auto* fault = std::get_if<core::Fault>(&outcome))
    ADD_FAILURE() << fault->message << " " << fault->file << ":" << fault->line;
  if (!std::holds_alternative<Trace>(outcome)) return Trace{.graph = Graph(1)};
  Trace trace = std::move(std::get<Trace>(outcome));
  ExpectValues(trace, buffers, request.dtypes, request.scalars, ulps);
  return trace;
}

void ExpectValues(const Trace& trace, const std::vector<core::BufferContent>& buffers,
                  const std::vector<core::DType>& dtypes, const std::vector<TraceRequest::Scalar>& scalars,
                  uint64_t ulps) {
  LeafValues leaves;
  leaves.load = [&](uint16_t buffer, uint64_t element) {
    uint64_t bits = 0;
    const size_t bytes = core::SizeOf(dtypes[buffer]);
    std::memcpy(&bits, buffers[buffer].bytes.data() + element * bytes, bytes);
    return bits;
  };
  leaves.scalar = [&](uint16_t position) {
    for (const auto& scalar : scalars)
      if (scalar.position == position) return BitsOf(scalar.dtype, scalar.value);
    return uint64_t{0};
  };
  Evaluation evaluate(trace.graph, leaves);
  for (size_t b = 0; b < trace.buffers.size(); ++b) {
    const TracedBuffer& buffer = trace.buffers[b];
    int shown = 0;
    for (size_t e = 0; e < buffer.elements.size(); ++e) {
      if (buffer.elements[e] == kConcrete) continue;
      const uint64_t got = evaluate(buffer.elements[e]);
      if (Distance(dtypes[b], got, buffer.bits[e]) <= ulps || ++shown > 5) continue;
      ADD_FAILURE() << buffer.name << "[" << e << "] = " << Describe(trace.graph, buffer.elements[e]) << ": "
                    << std::hex << got << ", in the run " << buffer.bits[e];
    }
  }
}

void ExpectWhole(const Trace& trace) {
  EXPECT_TRUE(trace.branches.empty()) << trace.branches[0].file << ":" << trace.branches[0].line << " "
                                      << Describe(trace.graph, trace.branches[0].predicate);
  for (const std::string& lossy : trace.lossy) ADD_FAILURE() << lossy;
}

}  // namespace warpwright::lift
