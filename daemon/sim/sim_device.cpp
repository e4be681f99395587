#include "sim/sim_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>
#include <thread>

#include "core/overlapping_calls.h"
#include "core/rotated_contents.h"
#include "core/run_notes.h"
#include "core/stream_order.h"
#include "sim/decision_shadow.h"
#include "sim/extent_shadow.h"
#include "sim/launch_counts.h"
#include "sim/launch_runner.h"
#include "sim/plan_memory.h"
#include "sim/stream_conflicts.h"

namespace warpwright::sim {

namespace {

using sim::LaunchContext;
using sim::LaunchOutcome;
using sim::LaunchResult;

constexpr size_t kKeptPrograms = 8;
constexpr uint64_t kPartBytes = 16u << 20;  // of each buffer that is returned in parts
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
    WW_ASSIGN(PlanMemory memory,
              PlanMemory::Create(*request_.plan, *request_.buffers, program_,
                                 {request_.options.guard_bytes, request_.options.seed, !request_.options.counters}));
    memory_.emplace(std::move(memory));
    if (request_.options.extents) extents_.emplace(*request_.plan, *memory_);
    else if (request_.options.decisions) decisions_.emplace();
    launches_left_ = CountLaunches();
    for (const core::PlanOp& op : request_.plan->setup) {
      WW_ASSIGN(std::optional<core::Fault> fault, RunOp(op, false));
      if (fault) return core::DeviceOutcome(std::move(*fault));
    }
    for (uint32_t call = 0; call <= request_.options.earlier_calls; ++call) {
      const bool last = call == request_.options.earlier_calls;
      if (request_.options.earlier_calls > 0)
        memory_->ResetArguments(last ? *request_.buffers : core::Rotated(*request_.buffers, call + 1));
      WW_ASSIGN(std::optional<core::Fault> fault, RunCall(last));
      if (fault) return core::DeviceOutcome(std::move(*fault));
    }
    FinishBuffers();
    return core::DeviceOutcome(std::move(run_));
  }

 private:
  uint64_t CountLaunches() const {
    uint64_t launches = 0;
    for (const auto* ops : {&request_.plan->setup, &request_.plan->ops})
      launches += static_cast<uint64_t>(std::count_if(ops->begin(), ops->end(), [](const core::PlanOp& op) {
        return std::holds_alternative<core::KernelLaunch>(op);
      }));
    return launches;
  }

  // Constant memory in which every call leaves what depends on its arguments.
  bool IsCopiedTo(const std::string& variable) const {
    const std::vector<core::PlanOp>& ops = request_.plan->ops;
    return std::any_of(ops.begin(), ops.end(), [&](const core::PlanOp& op) {
      const auto* copy = std::get_if<core::SymbolCopyOp>(&op);
      return copy != nullptr && copy->to_symbol && core::NamesVariable(variable, copy->symbol);
    });
  }

  // What outlives a call of the plan's operations: the module's variables that kernels or copies can write, and
  // workspaces, if some of them are filled once, or if calls that use them may overlap.
  struct Kept {
    std::string name;
    bool variable = true;
    std::span<const std::byte> now;
    const sim::Allocation* allocation = nullptr;
    uint64_t offset = 0;  // in the allocation
    std::vector<std::byte> before;
  };
  Result<std::vector<Kept>> BeginCall() {
    std::vector<Kept> state;
    sim::Memory& memory = memory_->memory();
    const std::vector<PlanMemory::Buffer>& buffers = memory_->buffers();
    const auto keep = [&](const std::string& name, bool variable, uint64_t address, uint64_t bytes) -> Status {
      WW_TRY(memory.BeginCall(address));
      const std::span<const std::byte> now = memory.Bytes(address, bytes);
      const sim::Allocation* allocation = memory.Find(address);
      state.push_back({.name = name,
                       .variable = variable,
                       .now = now,
                       .allocation = allocation,
                       .offset = address - allocation->base,
                       .before = {now.begin(), now.end()}});
      return {};
    };
    const auto& variables = program_.variables();
    for (uint32_t i = 0; i < variables.size(); ++i)
      if (variables[i].bytes > 0 && (!variables[i].constant || IsCopiedTo(variables[i].name)))
        WW_TRY(keep(variables[i].name, true, memory.variable_address(i), variables[i].bytes));
    const bool set_up = !request_.plan->setup.empty(), may_overlap = request_.plan->has_callers_stream;
    for (size_t i = 0; i < buffers.size(); ++i)
      if (!buffers[i].sparse && request_.plan->buffers[i].kind != core::PlanBuffer::Kind::kArgument &&
          buffers[i].bytes > 0 && (set_up || (may_overlap && request_.plan->buffers[i].kept)))
        WW_TRY(keep(request_.plan->buffers[i].name, false, buffers[i].address, buffers[i].bytes));
    return state;
  }
  std::vector<core::StateUse> EndCall(const std::vector<Kept>& state) const {
    std::vector<core::StateUse> uses;
    for (const Kept& kept : state) {
      const uint8_t* found = kept.allocation->found + kept.offset;
      // A workspace of one size for all calls is the same memory in every call.
      const std::string name = kept.variable ? kept.name : fmt::format("{} of {} bytes", kept.name, kept.now.size());
      core::StateUse use{name, kept.variable, {}, {}};
      use.inherited = core::RangesOf(kept.now.size(), [&](uint64_t i) { return found[i] == sim::Allocation::kRead; });
      use.left = core::RangesOf(kept.now.size(), [&](uint64_t i) { return kept.now[i] != kept.before[i]; });
      if (!use.inherited.empty() || !use.left.empty()) uses.push_back(std::move(use));
    }
    return uses;
  }

  Result<std::optional<core::Fault>> RunCall(bool timed) {
    WW_ASSIGN(const std::vector<Kept> state, BeginCall());
    std::optional<StreamConflicts> conflicts;
    if (request_.options.visibility) conflicts.emplace(*memory_);
    if (conflicts && !conflicts->any()) conflicts.reset();
    for (size_t i = 0; i < request_.plan->ops.size(); ++i) {
      const core::PlanOp& op = request_.plan->ops[i];
      const bool launches = std::holds_alternative<core::KernelLaunch>(op);
      Touched touched;
      WW_ASSIGN(std::optional<core::Fault> fault, RunOp(op, timed, conflicts ? &touched : nullptr));
      if (!fault && conflicts) fault = launches ? conflicts->Note(i, std::move(touched)) : conflicts->Note(i);
      if (fault) return fault;
    }
    if (!run_.sampled) core::Merge(EndCall(state), run_.state);
    return std::optional<core::Fault>();
  }
  // `touched`, unless it is null: by a launch.
  Result<std::optional<core::Fault>> RunOp(const core::PlanOp& op, bool timed, Touched* touched = nullptr) {
    if (const auto* launch = std::get_if<core::KernelLaunch>(&op)) return RunKernel(*launch, timed, touched);
    if (std::optional<core::Fault> fault = memory_->CopiesNothing(op)) return fault;
    if (extents_) extents_->Apply(op);
    WW_ASSIGN(const std::optional<PlanMemory::Written> written, memory_->Apply(op));
    if (!written || !request_.options.counters) return std::nullopt;
    if (written->bytes > 0) l2_.Write(written->address, written->bytes);
    if (timed)
      run_.time_us +=
          chip_.launch_overhead_us + static_cast<double>(written->moved) / chip_.dram_bytes_per_second * 1e6;
    return std::nullopt;
  }

  Result<std::optional<core::Fault>> RunKernel(const core::KernelLaunch& launch, bool timed, Touched* touched) {
    if (cut_short_) return std::nullopt;  // what it would read is not there
    const core::KernelResources* resources = request_.module->Find(launch.kernel);
    const sim::KernelInfo* info = resources ? program_.Find(resources->symbol) : nullptr;
    if (!info)
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("the plan launches '{}', which is not in the compiled module", launch.kernel));
    WW_ASSIGN(const std::vector<std::byte> parameters, memory_->Parameters(launch, *info));
    const core::ExecuteOptions& options = request_.options;
    sim::LaunchLimits limits;
    limits.counters = options.counters;
    limits.lines = options.lines;
    limits.instruction_limit = options.instruction_limit - std::min(options.instruction_limit, instructions_);
    if (options.block_limit) limits.block_limit = options.block_limit->Count();
    if (options.sample_instructions > 0)
      limits.sample_instructions =
          std::max<uint64_t>(1, (options.sample_instructions - std::min(options.sample_instructions, instructions_)) /
                                    std::max<uint64_t>(launches_left_, 1));
    limits.footprint_bytes = Footprint(launch);
    limits.block_order = order_;
    if (extents_) limits.shadow = &*extents_;
    else if (decisions_) limits.shadow = &*decisions_;
    limits.visibility = options.visibility;
    limits.touched = touched != nullptr;
    limits.spread = options.spread;
    launches_left_ -= launches_left_ > 0;
    const LaunchContext context{.chip = chip_,
                                .program = program_,
                                .memory = memory_->memory(),
                                .l2 = l2_,
                                .pool = pool_,
                                .machine_code = machine_code_};
    WW_ASSIGN(LaunchOutcome outcome, sim::RunLaunch(context, launch, *resources, parameters, limits));
    if (core::Fault* fault = std::get_if<core::Fault>(&outcome)) return std::optional<core::Fault>(std::move(*fault));
    LaunchResult& result = std::get<LaunchResult>(outcome);
    if (touched != nullptr) *touched = std::move(result.touched);
    if (result.old_read && !run_.old_read) run_.old_read = std::move(result.old_read);
    instructions_ += result.thread_instructions;
    AddLineUses(run_.lines, result.lines);
    cut_short_ |= result.cut_short;
    if (result.cut_short) run_.notes.emplace_back(core::kCutShort);
    if (!result.complete) {
      run_.sampled = true;
      memory_->Settle();
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
    for (const uint32_t buffer : reached) bytes += memory_->buffers()[buffer].bytes + 64;
    for (const sim::ModuleVariable& variable : program_.variables()) bytes += variable.bytes + 64;
    return bytes;
  }

  void FinishBuffers() {
    run_.guards = memory_->ViolatedGuards();
    if (extents_) run_.extents = extents_->Extents();
    if (decisions_) run_.decisions = decisions_->Decisions();
    if (!request_.options.keep_outputs) return;
    run_.parts = memory_->Parts(*request_.buffers, kPartBytes);
    for (size_t i = 0; i < memory_->buffers().size(); ++i) {
      if (request_.plan->buffers[i].kind != core::PlanBuffer::Kind::kArgument) continue;
      const PlanMemory::Buffer& buffer = memory_->buffers()[i];
      if (buffer.sparse) {
        run_.buffers.emplace_back();
        continue;
      }
      const std::span<std::byte> bytes = memory_->memory().Bytes(buffer.address, buffer.bytes);
      run_.buffers.emplace_back(bytes.begin(), bytes.end());
    }
  }

  const core::DeviceRequest& request_;
  const core::Chip& chip_;
  const sim::Program& program_;
  std::optional<PlanMemory> memory_;
  std::optional<ExtentShadow> extents_;
  std::optional<DecisionShadow> decisions_;
  sim::L2Model l2_;
  std::map<std::string, compile::CubinKernel> machine_code_;
  sim::WorkerPool& pool_;
  core::DeviceRun run_;
  const uint64_t order_;
  uint64_t instructions_ = 0, launches_left_ = 0;
  bool cut_short_ = false;  // a launch, before all of its blocks had ended
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
    if (request.beside != nullptr && !request.beside->empty()) return RunOverlapping(request, *program);
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
  // With a second call on another stream. What the first one leaves is returned.
  Result<core::DeviceOutcome> RunOverlapping(const core::DeviceRequest& request, const sim::Program& program) {
    const core::LaunchPlan plan = core::OverlappingCalls(*request.plan);
    std::vector<core::BufferContent> contents = *request.buffers;
    const size_t count = contents.size();
    if (plan.has_callers_stream) contents.insert(contents.end(), request.beside->begin(), request.beside->end());
    core::DeviceRequest both = request;
    both.plan = &plan;
    both.buffers = &contents;
    WW_ASSIGN(core::DeviceOutcome outcome, PlanRun(both, chip_, program, pool_).Run());
    if (auto* run = std::get_if<core::DeviceRun>(&outcome)) run->buffers.resize(std::min(count, run->buffers.size()));
    return outcome;
  }

  // Every run is the same here unless blocks race for the same memory, or streams do: another order of the blocks or
  // streams reveals it.
  Result<std::optional<core::Fault>> RunAgain(const core::DeviceRequest& request, const sim::Program& program,
                                              uint64_t instructions, core::DeviceOutcome& outcome) {
    auto* run = std::get_if<core::DeviceRun>(&outcome);
    if (!run || !request.options.keep_outputs) return std::optional<core::Fault>();
    core::DeviceRequest again = request;
    again.options.counters = again.options.extents = again.options.decisions = again.options.lines = false;
    again.options.visibility = false;
    again.options.sample_instructions = 0;
    again.options.instruction_limit = 1'000'000 + 4 * instructions;
    core::LaunchPlan exchanged = *request.plan;
    exchanged.ops = core::LatestFirst(*request.plan);
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
      core::Merge(result.state, run->state);
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
