#include "sim/sim_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>
#include <thread>

#include "base/random.h"
#include "core/stream_order.h"
#include "sim/launch_runner.h"

namespace warpwright::sim {

namespace {

using sim::LaunchContext;
using sim::LaunchOutcome;
using sim::LaunchResult;

constexpr size_t kKeptPrograms = 8;
constexpr uint64_t kGuardStream = 1'000'000,
                   kWorkspaceStream = 2'000'000;  // random number stream, plus the buffer's index

void FillRandom(std::span<std::byte> bytes, uint64_t seed, uint64_t stream) {
  const base::CounterRandom random(seed, stream);
  for (size_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t bits = random.Bits(i / 8);
    std::memcpy(bytes.data() + i, &bits, std::min<size_t>(8, bytes.size() - i));
  }
}

// One run of one plan.
class PlanRun {
 public:
  // `order`: of the blocks; 0 is the usual one.
  PlanRun(const core::DeviceRequest& request, const core::Chip& chip, const sim::Program& program,
          sim::WorkerPool& pool, uint64_t order = 0)
      : request_(request), chip_(chip), program_(program), l2_(chip), pool_(pool), order_(order) {}
  uint64_t instructions() const { return instructions_; }

  Result<core::DeviceOutcome> Run() {
    // Machine code of architectures other than sm_90 is formatted differently.
    if (request_.options.counters && request_.module->arch == "sm_90")
      if (auto read = compile::ReadCubin(request_.module->cubin)) machine_code_ = std::move(*read);
    WW_TRY(AllocateBuffers());
    WW_TRY(memory_.LoadModule(program_));
    launches_left_ = CountLaunches();
    for (const core::PlanOp& op : request_.plan->setup) {
      WW_ASSIGN(std::optional<core::Fault> fault, RunOp(op, false));
      if (fault) return core::DeviceOutcome(std::move(*fault));
    }
    const std::vector<Kept> state = KeepState();
    for (const core::PlanOp& op : request_.plan->ops) {
      WW_ASSIGN(std::optional<core::Fault> fault, RunOp(op, true));
      if (fault) return core::DeviceOutcome(std::move(*fault));
    }
    for (const Kept& kept : state)
      if (IsChanged(kept)) run_.changed_globals.push_back(kept.name);
    FinishBuffers();
    return core::DeviceOutcome(std::move(run_));
  }

 private:
  struct Buffer {
    uint64_t address = 0;  // of the content
    uint64_t bytes = 0;
    uint64_t guard = 0;  // bytes on each side
  };

  uint64_t CountLaunches() const {
    uint64_t launches = 0;
    for (const auto* ops : {&request_.plan->setup, &request_.plan->ops})
      launches += static_cast<uint64_t>(std::count_if(ops->begin(), ops->end(), [](const core::PlanOp& op) {
        return std::holds_alternative<core::KernelLaunch>(op);
      }));
    return launches;
  }

  Status AllocateBuffers() {
    size_t argument = 0;
    for (const core::PlanBuffer& plan_buffer : request_.plan->buffers) {
      const core::BufferContent* content = nullptr;
      if (plan_buffer.kind == core::PlanBuffer::Kind::kArgument) {
        if (argument >= request_.buffers->size() || (*request_.buffers)[argument].bytes.size() != plan_buffer.bytes)
          return Fail(ErrorCode::kCorrupt,
                      fmt::format("the plan's buffer '{}' does not match the contents given", plan_buffer.name));
        content = &(*request_.buffers)[argument++];
      }
      WW_ASSIGN(Buffer buffer, Allocate(plan_buffer, content));
      buffers_.push_back(buffer);
    }
    if (argument != request_.buffers->size())
      return Fail(ErrorCode::kCorrupt, "more buffer contents than the plan has buffers");
    return {};
  }

  Result<Buffer> Allocate(const core::PlanBuffer& plan_buffer, const core::BufferContent* content) {
    Buffer buffer;
    buffer.bytes = plan_buffer.bytes;
    buffer.guard = (request_.options.guard_bytes + 255) / 256 * 256;  // keeps the content's alignment
    sim::AllocationOptions options;
    options.read_only = content && content->read_only;
    options.initialized = content && !content->uninitialized;
    options.misalignment = content ? static_cast<uint64_t>(std::clamp<int64_t>(content->pointer_offset, 0, 4096)) : 0;
    WW_ASSIGN(const uint64_t base, memory_.Allocate(plan_buffer.name, buffer.bytes + 2 * buffer.guard, options));
    buffer.address = base + buffer.guard;
    const std::span<std::byte> bytes = memory_.Bytes(buffer.address, buffer.bytes);
    const uint64_t index = buffers_.size();
    if (content) std::copy(content->bytes.begin(), content->bytes.end(), bytes.begin());
    else FillRandom(bytes, request_.options.seed, kWorkspaceStream + index);
    for (const uint64_t band : {base, buffer.address + buffer.bytes}) {
      FillRandom(memory_.Bytes(band, buffer.guard), request_.options.seed, kGuardStream + 2 * index + (band != base));
      if (buffer.guard > 0) memory_.MarkWritten(band, buffer.guard);
    }
    return buffer;
  }

  // What outlives a launch of the plan's operations: the module's variables that kernels can write, and what setup
  // wrote into workspaces.
  struct Kept {
    std::string name;
    std::span<const std::byte> now;
    std::vector<std::byte> before;
    std::vector<uint8_t> written;  // of a workspace, for each byte; empty: all count
  };
  std::vector<Kept> KeepState() const {
    std::vector<Kept> state;
    const auto keep = [&](const std::string& name, uint64_t address, uint64_t bytes) {
      const std::span<const std::byte> now = memory_.Bytes(address, bytes);
      state.push_back({name, now, {now.begin(), now.end()}, {}});
    };
    const auto& variables = program_.variables();
    for (uint32_t i = 0; i < variables.size(); ++i)
      if (!variables[i].constant) keep(variables[i].name, memory_.variable_address(i), variables[i].bytes);
    if (request_.plan->setup.empty()) return state;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (request_.plan->buffers[i].kind == core::PlanBuffer::Kind::kArgument) continue;
      const sim::Allocation* allocation = memory_.Find(buffers_[i].address);
      if (!allocation || !allocation->written) continue;
      keep(request_.plan->buffers[i].name, buffers_[i].address, buffers_[i].bytes);
      const uint8_t* first = allocation->written + (buffers_[i].address - allocation->base);
      state.back().written.assign(first, first + buffers_[i].bytes);
    }
    return state;
  }
  static bool IsChanged(const Kept& kept) {
    for (size_t i = 0; i < kept.before.size(); ++i)
      if (kept.now[i] != kept.before[i] && (kept.written.empty() || kept.written[i])) return true;
    return false;
  }

  uint64_t Address(const core::DevicePointer& pointer) const {
    return buffers_[pointer.buffer].address + static_cast<uint64_t>(pointer.offset);
  }

  Result<std::optional<core::Fault>> RunOp(const core::PlanOp& op, bool timed) {
    if (const auto* launch = std::get_if<core::KernelLaunch>(&op)) return RunKernel(*launch, timed);
    WW_TRY(std::visit(Overload{[&](const core::MemsetOp& o) { return Memset(o, timed); },
                               [&](const core::CopyOp& o) { return Copy(o, timed); },
                               [&](const core::UploadOp& o) { return Upload(o.destination, o.bytes, timed); },
                               [&](const core::SymbolUploadOp& o) { return UploadSymbol(o); },
                               [](const auto&) { return Status(); }},  // events: operations run in order anyway
                      op));
    return std::nullopt;
  }

  void AddTime(bool timed, double bytes) {
    if (timed && request_.options.counters)
      run_.time_us += chip_.launch_overhead_us + bytes / chip_.dram_bytes_per_second * 1e6;
  }

  Result<std::span<std::byte>> Bytes(const core::DevicePointer& pointer, uint64_t bytes) {
    const std::span<std::byte> span = memory_.Bytes(Address(pointer), bytes);
    if (span.size() != bytes) return Fail(ErrorCode::kCorrupt, "an operation of the plan leaves its buffer");
    return span;
  }

  Status Memset(const core::MemsetOp& op, bool timed) {
    WW_ASSIGN(const std::span<std::byte> span, Bytes(op.destination, op.bytes));
    for (uint64_t i = 0; i < op.bytes; ++i) span[i] = static_cast<std::byte>(op.value >> (8 * (i % op.unit)));
    Written(op.destination, op.bytes);
    AddTime(timed, static_cast<double>(op.bytes));
    return {};
  }
  Status Copy(const core::CopyOp& op, bool timed) {
    WW_ASSIGN(const std::span<std::byte> to, Bytes(op.destination, op.bytes));
    WW_ASSIGN(const std::span<std::byte> from, Bytes(op.source, op.bytes));
    std::memmove(to.data(), from.data(), op.bytes);
    memory_.CopyWritten(Address(op.destination), Address(op.source), op.bytes);
    if (request_.options.counters) l2_.Write(Address(op.destination), op.bytes);
    AddTime(timed, 2.0 * static_cast<double>(op.bytes));
    return {};
  }
  Status Upload(const core::DevicePointer& destination, const std::vector<std::byte>& bytes, bool timed) {
    WW_ASSIGN(const std::span<std::byte> span, Bytes(destination, bytes.size()));
    std::copy(bytes.begin(), bytes.end(), span.begin());
    Written(destination, bytes.size());
    AddTime(timed, static_cast<double>(bytes.size()));
    return {};
  }
  void Written(const core::DevicePointer& pointer, uint64_t bytes) {
    if (bytes == 0) return;
    memory_.MarkWritten(Address(pointer), bytes);
    if (request_.options.counters) l2_.Write(Address(pointer), bytes);
  }
  Status UploadSymbol(const core::SymbolUploadOp& op) {
    const auto& variables = program_.variables();
    for (uint32_t i = 0; i < variables.size(); ++i) {
      if (!core::NamesVariable(variables[i].name, op.symbol)) continue;
      if (op.offset > variables[i].bytes || op.bytes.size() > variables[i].bytes - op.offset)
        return Fail(ErrorCode::kCorrupt, fmt::format("an upload leaves the variable '{}'", op.symbol));
      const uint64_t address = memory_.variable_address(i) + op.offset;
      const std::span<std::byte> span = memory_.Bytes(address, op.bytes.size());
      std::copy(op.bytes.begin(), op.bytes.end(), span.begin());
      if (!op.bytes.empty()) memory_.MarkWritten(address, op.bytes.size());
      return {};
    }
    return {};  // the compiler drops a variable that no kernel reads
  }

  Result<std::optional<core::Fault>> RunKernel(const core::KernelLaunch& launch, bool timed) {
    const core::KernelResources* resources = request_.module->Find(launch.kernel);
    const sim::KernelInfo* info = resources ? program_.Find(resources->symbol) : nullptr;
    if (!info)
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("the plan launches '{}', which is not in the compiled module", launch.kernel));
    WW_ASSIGN(const std::vector<std::byte> parameters, Parameters(launch, *info));
    const core::ExecuteOptions& options = request_.options;
    sim::LaunchLimits limits;
    limits.counters = options.counters;
    limits.instruction_limit = options.instruction_limit - std::min(options.instruction_limit, instructions_);
    if (options.block_limit) limits.block_limit = options.block_limit->Count();
    if (options.sample_instructions > 0)
      limits.sample_instructions =
          std::max<uint64_t>(1, (options.sample_instructions - std::min(options.sample_instructions, instructions_)) /
                                    std::max<uint64_t>(launches_left_, 1));
    limits.footprint_bytes = Footprint(launch);
    limits.block_order = order_;
    launches_left_ -= launches_left_ > 0;
    const LaunchContext context{
        .chip = chip_, .program = program_, .memory = memory_, .l2 = l2_, .pool = pool_, .machine_code = machine_code_};
    WW_ASSIGN(LaunchOutcome outcome, sim::RunLaunch(context, launch, *resources, parameters, limits));
    if (core::Fault* fault = std::get_if<core::Fault>(&outcome)) return std::optional<core::Fault>(std::move(*fault));
    LaunchResult& result = std::get<LaunchResult>(outcome);
    instructions_ += result.thread_instructions;
    if (!result.complete) {
      run_.sampled = true;
      SettleMemory();
    }
    if (timed) {
      run_.time_us += result.report.time.total_us;
      run_.launches.push_back(std::move(result.report));
    }
    return std::nullopt;
  }

  // The bytes of the buffers that the launch names and of the module's variables.
  uint64_t Footprint(const core::KernelLaunch& launch) const {
    std::set<uint32_t> reached;
    for (const core::KernelParameter& parameter : launch.parameters)
      for (const auto& [offset, pointer] : parameter.pointers) reached.insert(pointer.buffer);
    uint64_t bytes = 0;
    for (const uint32_t buffer : reached) bytes += buffers_[buffer].bytes + 64;
    for (const sim::ModuleVariable& variable : program_.variables()) bytes += variable.bytes + 64;
    return bytes;
  }

  Result<std::vector<std::byte>> Parameters(const core::KernelLaunch& launch, const sim::KernelInfo& info) const {
    if (launch.parameters.size() != info.parameters.size())
      return Fail(ErrorCode::kCorrupt, fmt::format("'{}' takes {} parameters, the plan gives {}", launch.kernel,
                                                   info.parameters.size(), launch.parameters.size()));
    std::vector<std::byte> block(info.parameter_bytes);
    for (size_t i = 0; i < info.parameters.size(); ++i) {
      std::vector<std::byte> bytes = launch.parameters[i].bytes;
      const sim::ParameterInfo& place = info.parameters[i];
      if (bytes.size() != place.bytes || place.offset + place.bytes > block.size())
        return Fail(ErrorCode::kCorrupt, fmt::format("parameter {} of '{}' has {} bytes, the plan gives {}", i,
                                                     launch.kernel, place.bytes, bytes.size()));
      for (const auto& [offset, pointer] : launch.parameters[i].pointers) {
        if (pointer.buffer >= buffers_.size() || offset + 8 > bytes.size())
          return Fail(ErrorCode::kCorrupt, "a pointer of the plan is out of range");
        const uint64_t address = Address(pointer);
        std::memcpy(bytes.data() + offset, &address, 8);
      }
      std::copy(bytes.begin(), bytes.end(), block.begin() + place.offset);
    }
    return block;
  }

  // Memory that no block has written becomes zero and readable: zero is a legal index and a harmless number.
  void SettleMemory() {
    for (const Buffer& buffer : buffers_) {
      const sim::Allocation* allocation = memory_.Find(buffer.address);
      if (!allocation || !allocation->written) continue;
      for (uint64_t i = 0; i < allocation->bytes; ++i) {
        if (allocation->written[i]) continue;
        allocation->data[i] = std::byte{0};
        allocation->written[i] = 0xff;
      }
    }
  }

  void FinishBuffers() {
    size_t arguments = 0;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const Buffer& buffer = buffers_[i];
      if (buffer.guard > 0) CompareGuards(i);
      if (request_.plan->buffers[i].kind != core::PlanBuffer::Kind::kArgument) continue;
      ++arguments;
      if (!request_.options.keep_outputs) continue;
      const std::span<std::byte> bytes = memory_.Bytes(buffer.address, buffer.bytes);
      run_.buffers.emplace_back(bytes.begin(), bytes.end());
    }
  }

  void CompareGuards(size_t index) {
    const Buffer& buffer = buffers_[index];
    std::vector<std::byte> expected(buffer.guard);
    for (const bool behind : {false, true}) {
      FillRandom(expected, request_.options.seed, kGuardStream + 2 * index + behind);
      const std::span<std::byte> band =
          memory_.Bytes(behind ? buffer.address + buffer.bytes : buffer.address - buffer.guard, buffer.guard);
      core::GuardViolation violation;
      for (uint64_t i = 0; i < buffer.guard; ++i) {
        if (band[i] == expected[i]) continue;
        const int64_t offset = behind ? static_cast<int64_t>(buffer.bytes + i)
                                      : static_cast<int64_t>(i) - static_cast<int64_t>(buffer.guard);
        if (violation.bytes++ == 0) violation.offset = offset;
      }
      if (violation.bytes == 0) continue;
      violation.buffer = request_.plan->buffers[index].name;
      run_.guards.push_back(std::move(violation));
    }
  }

  const core::DeviceRequest& request_;
  const core::Chip& chip_;
  const sim::Program& program_;
  sim::Memory memory_;
  sim::L2Model l2_;
  std::map<std::string, compile::CubinKernel> machine_code_;
  sim::WorkerPool& pool_;
  std::vector<Buffer> buffers_;
  core::DeviceRun run_;
  const uint64_t order_;
  uint64_t instructions_ = 0, launches_left_ = 0;
};

class SimDevice : public core::Device {
 public:
  SimDevice(const core::Chip& chip, int threads)
      : chip_(chip),
        pool_(std::clamp(threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency()), 1, 64)) {}

  const core::Chip& chip() const override { return chip_; }

  Result<core::DeviceOutcome> Run(const core::DeviceRequest& request) override {
    const Result<sim::Program> program = Decode(*request.module);
    if (!program) {  // the assembler accepted it: the candidate's code exceeds what we support
      core::Fault fault;
      fault.kind = core::Fault::Kind::kNotSimulated;
      fault.message = program.error().message;
      return core::DeviceOutcome(std::move(fault));
    }
    PlanRun first(request, chip_, *program, pool_);
    WW_ASSIGN(core::DeviceOutcome outcome, first.Run());
    WW_ASSIGN(std::optional<core::Fault> fault, RunAgain(request, *program, first.instructions(), outcome));
    if (fault) return core::DeviceOutcome(std::move(*fault));
    return outcome;
  }
  Result<core::DeviceTimingOutcome> Time(const core::DeviceTimingRequest&) override {
    return Fail(ErrorCode::kUnsupported, "the simulator models times; only a GPU can be timed");
  }
  bool usable() const override { return true; }
  bool modelled() const override { return true; }

 private:
  // Every run is the same here unless blocks race for the same memory, or streams do: another order of the blocks or
  // streams reveals it.
  Result<std::optional<core::Fault>> RunAgain(const core::DeviceRequest& request, const sim::Program& program,
                                              uint64_t instructions, core::DeviceOutcome& outcome) {
    auto* run = std::get_if<core::DeviceRun>(&outcome);
    if (!run || !request.options.keep_outputs) return std::optional<core::Fault>();
    core::DeviceRequest again = request;
    again.options.counters = false;
    again.options.sample_instructions = 0;
    again.options.instruction_limit = 1'000'000 + 4 * instructions;
    core::LaunchPlan exchanged = *request.plan;
    exchanged.ops = core::LatestFirst(exchanged.ops);
    const bool streams = exchanged.ops != request.plan->ops;
    for (uint32_t order = 1; order < request.options.runs; ++order) {
      again.plan = streams && order % 2 == 1 ? &exchanged : request.plan;
      WW_ASSIGN(core::DeviceOutcome other, PlanRun(again, chip_, program, pool_, order).Run());
      if (auto* fault = std::get_if<core::Fault>(&other)) {
        // Blocks that wait for lower ones wait forever here, but not on a GPU, which starts them in order.
        if (fault->kind == core::Fault::Kind::kInstructionLimit) break;
        if (again.plan == &exchanged) fault->message += "; in an order that its streams allow, and a GPU may take";
        return std::optional<core::Fault>(std::move(*fault));
      }
      core::DeviceRun& result = std::get<core::DeviceRun>(other);
      if (result.buffers == run->buffers) continue;
      if (++run->differing_runs == 1) run->other_buffers = std::move(result.buffers);
    }
    return std::optional<core::Fault>();
  }

  // The judge runs one module on many inputs.
  Result<sim::Program> Decode(const core::CompiledModule& module) {
    for (const auto& [ptx, program] : programs_)
      if (ptx == module.ptx) return program;
    WW_ASSIGN(sim::Program program, sim::DecodePtx(module.ptx));
    programs_.emplace_front(module.ptx, program);
    if (programs_.size() > kKeptPrograms) programs_.pop_back();
    return program;
  }

  const core::Chip chip_;
  sim::WorkerPool pool_;
  std::deque<std::pair<std::string, sim::Program>> programs_;
};

}  // namespace

std::unique_ptr<core::Device> MakeSimDevice(const core::Chip& chip, int threads) {
  return std::make_unique<SimDevice>(chip, threads);
}

}  // namespace warpwright::sim
