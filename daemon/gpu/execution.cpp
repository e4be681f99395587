#include "gpu/execution.h"

#include <algorithm>
#include <chrono>

#include "core/median.h"
#include "core/occupancy.h"
#include "core/rotated_contents.h"

namespace warpwright::gpu {
namespace {

constexpr int kTimeSamples = 7;

// The set-up runs once per process: what it filled is available to every later launch.
std::vector<size_t> FilledWorkspaces(const core::LaunchPlan& plan) {
  std::vector<size_t> filled;
  const auto add = [&](size_t buffer) {
    if (plan.buffers[buffer].kind == core::PlanBuffer::Kind::kWorkspace &&
        std::find(filled.begin(), filled.end(), buffer) == filled.end())
      filled.push_back(buffer);
  };
  for (const core::PlanOp& op : plan.setup)
    std::visit(Overload{[&](const core::MemsetOp& o) { add(o.destination.buffer); },
                        [&](const core::CopyOp& o) { add(o.destination.buffer); },
                        [&](const core::UploadOp& o) { add(o.destination.buffer); },
                        [&](const core::KernelLaunch& o) {
                          for (const auto& parameter : o.parameters)
                            for (const auto& [at, pointer] : parameter.pointers) add(pointer.buffer);
                        },
                        [&](const core::SymbolCopyOp& o) {
                          if (!o.to_symbol) add(o.buffer.buffer);
                        },
                        [](const core::SymbolUploadOp&) {}, [](const core::EventOp&) {}},
               op);
  return filled;
}

// Constant memory to which a call copies behind a launch, so that launches of the next call may read it. What a call
// copies in front of its launches they all find as it is.
std::vector<std::string> ConstantsLeft(const core::LaunchPlan& plan, const LoadedModule& module) {
  std::vector<std::string> left;
  bool launched = false;
  for (const core::PlanOp& op : plan.ops) {
    launched |= std::holds_alternative<core::KernelLaunch>(op);
    const auto* copy = std::get_if<core::SymbolCopyOp>(&op);
    if (launched && copy != nullptr && copy->to_symbol && module.IsConstant(copy->symbol)) left.push_back(copy->symbol);
  }
  return left;
}

std::optional<CounterTier> TierOf(core::CounterDepth depth) {
  switch (depth) {
    case core::CounterDepth::kTimes: return std::nullopt;
    case core::CounterDepth::kCore: return CounterTier::kCore;
    case core::CounterDepth::kEvidence: return CounterTier::kCandidate;
    case core::CounterDepth::kSpeedOfLight: return CounterTier::kSpeedOfLight;
  }
  return CounterTier::kCandidate;
}

}  // namespace

core::LaunchReport DescribeLaunch(const core::Chip& chip, const core::KernelLaunch& launch,
                                  const core::KernelResources* resources) {
  core::LaunchReport report;
  report.kernel = launch.kernel;
  report.threads_per_block = static_cast<int>(launch.block.Count());
  report.blocks_total = report.blocks_run = launch.grid.Count();
  if (resources == nullptr) return report;
  report.registers = resources->registers;
  report.shared_bytes_per_block = launch.dynamic_shared_bytes + static_cast<uint32_t>(resources->static_shared_bytes);
  report.occupancy = core::ComputeOccupancy(
      chip, {report.threads_per_block, report.registers, report.shared_bytes_per_block}, report.blocks_total);
  return report;
}

Status Execution::Fill() {
  size_t argument = 0;
  for (size_t i = 0; i < buffers_->size(); ++i) {
    const CUdeviceptr to = buffers_->Address(i);
    if (request_.plan->buffers[i].kind == core::PlanBuffer::Kind::kWorkspace) {
      if (!request_.options.poison) continue;
      WW_TRY(tools_.FillPattern(to, buffers_->Bytes(i),
                                static_cast<uint32_t>(request_.options.seed) + static_cast<uint32_t>(i)));
      continue;
    }
    const core::BufferContent& content = (*request_.buffers)[argument++];
    if (content.bytes.empty() || (protected_ && content.read_only)) continue;  // which still has its content
    if (content.uninitialized && !request_.options.poison) continue;
    // The driver's copy instead of our own kernel: tools that detect uninitialised reads understand it.
    const CudaDriver& driver = context_.driver();
    WW_TRY(driver.Check(
        driver.MemcpyDtoDAsync(to, contents_[argument - 1].address(), content.bytes.size(), tools_.stream()),
        "cuMemcpyDtoDAsync"));
  }
  return {};
}

Result<std::vector<std::byte>> Execution::KeptState() {
  WW_ASSIGN(std::vector<std::byte> state, module_->Content(tools_.stream()));
  for (const size_t buffer : FilledWorkspaces(*request_.plan)) {
    const size_t at = state.size();
    state.resize(at + buffers_->Bytes(buffer));
    WW_TRY(tools_.Download(state.data() + at, buffers_->Address(buffer), buffers_->Bytes(buffer)));
  }
  return state;
}

Status Execution::FillArguments(const std::vector<core::BufferContent>& contents) {
  size_t argument = 0;
  for (size_t i = 0; i < buffers_->size(); ++i) {
    if (request_.plan->buffers[i].kind == core::PlanBuffer::Kind::kWorkspace) continue;
    const core::BufferContent& content = contents[argument++];
    if (!content.bytes.empty()) WW_TRY(tools_.Upload(buffers_->Address(i), content.bytes.data(), content.bytes.size()));
  }
  return {};
}

// Nothing is reloaded in between, and what is set up once is.
Step Execution::RunCalls() {
  WW_STEP(replay_->Setup(tools_.stream()));
  WW_STEP(context_.Wait(tools_.stream(), deadline_));
  for (uint32_t call = 0; call < request_.options.earlier_calls; ++call) {
    WW_TRY(FillArguments(core::Rotated(*request_.buffers, call + 1)));
    WW_STEP(RunPlan());
  }
  if (request_.options.earlier_calls > 0) WW_TRY(FillArguments(*request_.buffers));
  return RunPlan();
}

Step Execution::RunPlan() {
  const std::vector<size_t> filled = FilledWorkspaces(*request_.plan);
  AddChanged(ConstantsLeft(*request_.plan, *module_));
  const bool has_state = module_->has_variables() || !filled.empty();
  std::vector<std::byte> before, after;
  if (has_state) {
    WW_ASSIGN(before, KeptState());
  }
  WW_STEP(replay_->Run(tools_.stream()));
  const auto launches = replay_->Launches();
  WW_STEP(context_.Wait(tools_.stream(), deadline_, launches.empty() ? "" : launches.front()->kernel));
  if (!has_state) return std::nullopt;
  WW_ASSIGN(after, KeptState());
  std::vector<std::string> changed = module_->Different(before, after);
  size_t at = before.size();
  for (size_t i = filled.size(); i-- > 0;) {
    const uint64_t bytes = buffers_->Bytes(filled[i]);
    at -= bytes;
    if (!std::equal(before.begin() + static_cast<std::ptrdiff_t>(at),
                    before.begin() + static_cast<std::ptrdiff_t>(at + bytes),
                    after.begin() + static_cast<std::ptrdiff_t>(at)))
      changed.push_back(request_.plan->buffers[filled[i]].name);
  }
  AddChanged(std::move(changed));
  return std::nullopt;
}

void Execution::AddChanged(std::vector<std::string> names) {
  for (std::string& name : names)
    if (std::find(run_.changed_globals.begin(), run_.changed_globals.end(), name) == run_.changed_globals.end())
      run_.changed_globals.push_back(std::move(name));
}

Step Execution::RunOnce(uint32_t index) {
  WW_TRY(module_->Restore(tools_.stream()));
  if (index > 0) WW_TRY(Fill());
  WW_TRY(tools_.Scrub(static_cast<uint32_t>(request_.options.seed) * 31 + index));
  WW_STEP(context_.Wait(tools_.stream()));
  const core::Perturbation perturbation = request_.options.perturbation;
  if (perturbation == core::Perturbation::kHalfMultiprocessors) WW_TRY(tools_.OccupyHalf());
  if (perturbation == core::Perturbation::kNoise) WW_TRY(tools_.StartMemoryTraffic());
  Step step = RunCalls();
  if (perturbation != core::Perturbation::kNone && !context_.lost()) {
    tools_.Release();
    WW_STEP(context_.Wait(tools_.side().get()));
  }
  return step;
}

Status Execution::Download(std::vector<std::vector<std::byte>>& buffers) {
  for (size_t a = 0; a < request_.buffers->size(); ++a) {
    auto& bytes = buffers.emplace_back(buffers_->Bytes(a));
    WW_TRY(tools_.Download(bytes.data(), buffers_->Address(a), bytes.size()));
  }
  return {};
}

// Inputs are compared on the device, where that costs nothing: an unchanged input need not be downloaded.
Status Execution::DownloadResults() {
  for (size_t a = 0; a < request_.buffers->size(); ++a) {
    const core::BufferContent& content = (*request_.buffers)[a];
    auto& bytes = run_.buffers.emplace_back();
    uint64_t different = 1;
    if (!content.uninitialized && !content.bytes.empty()) {
      WW_ASSIGN(different, tools_.CountDifferent(contents_[a].address(), buffers_->Address(a), content.bytes.size()));
    }
    run_.as_sent.push_back(different == 0);
    if (different == 0) continue;
    bytes.resize(content.bytes.size());
    WW_TRY(tools_.Download(bytes.data(), buffers_->Address(a), bytes.size()));
  }
  return {};
}

Status Execution::UploadContents() {
  for (const core::BufferContent& content : *request_.buffers) {
    WW_ASSIGN(DeviceMemory memory, DeviceMemory::Allocate(context_, content.bytes.size()));
    WW_TRY(tools_.Upload(memory.address(), content.bytes.data(), content.bytes.size()));
    contents_.push_back(std::move(memory));
  }
  return {};
}

Status Execution::KeepResults() {
  for (size_t a = 0; a < request_.buffers->size(); ++a) {
    WW_ASSIGN(DeviceMemory memory, DeviceMemory::Allocate(context_, buffers_->Bytes(a)));
    if (buffers_->Bytes(a) > 0)
      WW_TRY(tools_.CopyMasked(memory.address(), buffers_->Address(a), buffers_->Bytes(a), 0));
    results_.push_back(std::move(memory));
  }
  return {};
}

Result<bool> Execution::SameAsFirst() {
  for (size_t a = 0; a < results_.size(); ++a) {
    if (buffers_->Bytes(a) == 0) continue;
    WW_ASSIGN(const uint64_t different,
              tools_.CountDifferent(results_[a].address(), buffers_->Address(a), buffers_->Bytes(a)));
    if (different > 0) return false;
  }
  return true;
}

// Each launch is timed between its own events, after all preceding launches and a flush of the caches before the plan.
Step Execution::Measure() {
  const CudaDriver& driver = context_.driver();
  const auto launches = replay_->Launches();
  std::vector<std::vector<double>> each(launches.size());
  std::vector<double> totals;
  for (int i = 0; i < kTimeSamples; ++i) {
    std::vector<Event> marks;
    WW_ASSIGN(Event begin, Event::Create(context_, true));
    WW_ASSIGN(Event end, Event::Create(context_, true));
    WW_TRY(module_->Restore(tools_.stream()));
    WW_TRY(Fill());
    WW_STEP(replay_->Setup(tools_.stream()));
    WW_TRY(tools_.Flush(static_cast<uint32_t>(i)));
    WW_TRY(tools_.Hold());
    WW_TRY(driver.Check(driver.EventRecord(begin.get(), tools_.stream()), "cuEventRecord"));
    // Marks between the kernels cost time: every other sample omits them, for the total.
    Step step =
        i % 2 == 0 || launches.size() == 1 ? replay_->Run(tools_.stream()) : replay_->RunMarked(tools_.stream(), marks);
    WW_TRY(driver.Check(driver.EventRecord(end.get(), tools_.stream()), "cuEventRecord"));
    tools_.Release();
    if (!step || *step) return step;
    WW_STEP(context_.Wait(tools_.stream()));
    const auto elapsed = [&](const Event& a, const Event& b) -> Result<double> {
      float ms = 0;
      WW_TRY(driver.Check(driver.EventElapsedTime(&ms, a.get(), b.get()), "cuEventElapsedTime"));
      return 1e3 * static_cast<double>(ms);
    };
    WW_ASSIGN(const double total, elapsed(begin, end));
    if (marks.empty()) totals.push_back(total);
    if (launches.size() == 1) each[0].push_back(total);
    for (size_t l = 0; 2 * l + 1 < marks.size(); ++l) {
      WW_ASSIGN(const double us, elapsed(marks[2 * l], marks[2 * l + 1]));
      each[l].push_back(us);
    }
  }
  run_.time_us = core::Median(totals);
  for (size_t l = 0; l < launches.size(); ++l) {
    core::LaunchReport report = DescribeLaunch(context_.chip(), *launches[l], module_->Resources(launches[l]->kernel));
    report.time.total_us = core::Median(each[l]);
    run_.launches.push_back(std::move(report));
  }
  return std::nullopt;
}

// No hold: CUPTI waits for every kernel. A fault in a replayed kernel is the kernel's fault, like any other.
Step Execution::Count() {
  const std::optional<CounterTier> tier = TierOf(request_.options.depth);
  if (!tier || counters_ == nullptr) {
    for (core::LaunchReport& report : run_.launches) gpu::Fill(report, {}, context_.chip());
    return std::nullopt;
  }
  std::optional<core::Fault> fault;
  std::unique_ptr<LoadedModule> first;  // until sampling is over, so that the copy has different addresses
  const auto as_status = [&](Step step) -> Status {
    if (!step) return Fail(step.error());
    if (!*step) return {};
    fault = std::move(**step);
    return Fail(ErrorCode::kIo, "the kernel faulted while it was counted");
  };
  CountedRun counted;
  counted.prepare = [&]() -> Status {
    WW_TRY(module_->Restore(tools_.stream()));
    WW_TRY(Fill());
    WW_TRY(as_status(replay_->Setup(tools_.stream())));
    return as_status(context_.Wait(tools_.stream()));
  };
  counted.run = [&]() -> Status {
    WW_TRY(as_status(replay_->Run(tools_.stream())));
    return as_status(context_.Wait(tools_.stream()));
  };
  counted.reload = [&]() -> Status {
    replay_.reset();
    first = std::move(module_);
    return as_status(Load());
  };
  counted.expected_us = run_.time_us;
  counted.spent = [this](const char* part) { Spent(part); };
  auto unavailable = CountPlan(*counters_, *tier, context_.chip(), *request_.module, counted, run_.launches);
  if (fault) return std::move(*fault);
  if (!unavailable) return Fail(unavailable.error());
  if (*unavailable) run_.notes.push_back((*unavailable)->reason + ": " + (*unavailable)->remedy);
  return std::nullopt;
}

void Execution::Spent(const char* part) {
  const auto now = std::chrono::steady_clock::now();
  run_.seconds[part] += std::chrono::duration<double>(now - last_).count();
  last_ = now;
}

// Loads the module, and creates the plan over it and the buffers.
Step Execution::Load() {
  WW_ASSIGN(auto loaded, LoadedModule::Load(context_, *request_.module));
  if (auto* fault = std::get_if<core::Fault>(&loaded)) return std::move(*fault);
  module_ = std::make_unique<LoadedModule>(std::move(std::get<LoadedModule>(loaded)));
  WW_ASSIGN(auto replay, Replay::Create(context_, *module_, *request_.plan, *buffers_));
  if (auto* fault = std::get_if<core::Fault>(&replay)) return std::move(*fault);
  replay_ = std::make_unique<Replay>(std::move(std::get<Replay>(replay)));
  return std::nullopt;
}

Step Execution::Steps() {
  Layout layout;
  layout.guard_bytes = request_.options.guard_bytes;
  layout.exact = request_.options.page_guard;
  layout.seed = static_cast<uint32_t>(request_.options.seed);
  WW_ASSIGN(BufferSet buffers, BufferSet::Allocate(context_, tools_, *request_.plan, *request_.buffers, layout));
  buffers_ = std::make_unique<BufferSet>(std::move(buffers));
  WW_STEP(Load());
  Spent("load");
  const uint32_t runs = std::max(1u, request_.options.runs);
  WW_TRY(UploadContents());
  WW_TRY(Fill());
  WW_STEP(context_.Wait(tools_.stream()));
  protected_ = layout.exact != core::PageGuard::kNone;
  if (protected_) WW_TRY(buffers_->Protect(*request_.buffers));
  Spent("upload");
  for (uint32_t i = 0; i < runs; ++i) {
    WW_STEP(RunOnce(i));
    if (i == 0) {
      Spent("execute");
      if (request_.options.keep_outputs) WW_TRY(DownloadResults());
      Spent("download");
      if (runs > 1) WW_TRY(KeepResults());
      continue;
    }
    WW_ASSIGN(const bool same, SameAsFirst());
    if (!same && ++run_.differing_runs == 1 && request_.options.keep_outputs) WW_TRY(Download(run_.other_buffers));
  }
  Spent("execute");
  WW_ASSIGN(run_.guards, buffers_->CheckGuards());
  Spent("guards");
  if (!request_.options.counters) return std::nullopt;
  WW_STEP(Measure());
  Spent("time");
  return Count();
}

Result<core::DeviceOutcome> Execution::Run() {
  WW_ASSIGN(auto fault, Steps());
  if (fault) return core::DeviceOutcome(std::move(*fault));
  return core::DeviceOutcome(std::move(run_));
}

}  // namespace warpwright::gpu
