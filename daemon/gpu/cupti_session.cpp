#include "gpu/cupti_session.h"

#include <fmt/format.h>

namespace warpwright::gpu {
namespace {

constexpr size_t kLinesPerKernel = 32;

// Whether an error only means that counting is impossible here.
bool MeansUnavailable(const Error& error) {
  return error.code == ErrorCode::kEnvironment || error.code == ErrorCode::kUnsupported;
}
CountersUnavailable Unavailable(const Error& error) { return {error.message, error.remedy}; }

Status CheckSupport(const Cupti& cupti, CUdevice device) {
  WW_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, params);
  params.cuDevice = device;
  params.api = CUPTI_PROFILER_RANGE_PROFILING;
  WW_TRY(cupti.Check(cupti.ProfilerDeviceSupported(&params), "cuptiProfilerDeviceSupported"));
  if (params.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return {};
  const std::pair<const char*, CUpti_Profiler_Support_Level> parts[] = {
      {"its architecture", params.architecture},
      {"SLI", params.sli},
      {"a virtual GPU", params.vGpu},
      {"confidential computing", params.confidentialCompute},
      {"a mining processor", params.cmp},
      {"WSL", params.wsl}};
  std::string why;
  for (const auto& [name, level] : parts)
    if (level != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) why += (why.empty() ? "" : ", ") + std::string(name);
  return Fail(ErrorCode::kEnvironment,
              "the device does not support counters" + (why.empty() ? "" : " because of " + why),
              "switch that off on the host, or go on without counters: timing and checking do not need them");
}

// Runs `step`, which wraps each of the caller's functions with the wrapper that it is passed: this distinguishes the
// caller's errors from those of counting.
template <typename T, typename Step>
Result<std::variant<CountersUnavailable, T>> Guarded(Step step) {
  Status callers;
  const auto guard = [&callers](const std::function<Status()>& function) -> std::function<Status()> {
    return [&callers, &function] {
      Status status = function();
      if (!status) callers = status;
      return status;
    };
  };
  Result<T> counted = step(guard);
  if (!callers) return Fail(callers.error());
  if (counted) return std::move(*counted);
  if (MeansUnavailable(counted.error())) return Unavailable(counted.error());
  return Fail(counted.error());
}

}  // namespace

Result<CounterSession> CounterSession::Create(CUcontext context, CUdevice device) {
  CounterSession session(context);
  const Status opened = session.Open(device);
  if (!opened && !MeansUnavailable(opened.error())) return Fail(opened.error());
  if (!opened) session.unavailable_ = Unavailable(opened.error());
  return session;
}

Status CounterSession::Open(CUdevice device) {
  WW_ASSIGN(cupti_, LoadCupti());
  WW_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, initialize);
  WW_TRY(cupti_->CheckEnable(cupti_->ProfilerInitialize(&initialize), "cuptiProfilerInitialize"));
  WW_TRY(CheckSupport(*cupti_, device));
  WW_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, chip);
  chip.deviceIndex = static_cast<size_t>(device);
  WW_TRY(cupti_->Check(cupti_->DeviceGetChipName(&chip), "cuptiDeviceGetChipName"));
  chip_ = chip.pChipName;
  // The first call that needs permission.
  WW_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, available);
  available.ctx = context_;
  WW_TRY(
      cupti_->CheckEnable(cupti_->ProfilerGetCounterAvailability(&available), "cuptiProfilerGetCounterAvailability"));
  availability_.resize(available.counterAvailabilityImageSize);
  available.pCounterAvailabilityImage = availability_.data();
  return cupti_->CheckEnable(cupti_->ProfilerGetCounterAvailability(&available), "cuptiProfilerGetCounterAvailability");
}

Result<CountedLaunches> CounterSession::Count(CounterTier tier, const std::function<Status()>& launch_all,
                                              size_t launches) {
  auto host = hosts_.find(tier);
  if (host == hosts_.end()) {
    WW_ASSIGN(CuptiHost made, CuptiHost::Create(*cupti_, chip_, availability_, MetricsOf(tier)));
    host = hosts_.emplace(tier, std::move(made)).first;
  }
  WW_ASSIGN(RangeProfiler profiler, RangeProfiler::Enable(*cupti_, context_));
  CountedLaunches counted;
  WW_ASSIGN(counted.launches, profiler.Count(host->second, launches, launch_all));
  counted.unknown = Missed(host->second.unknown());
  counted.passes = host->second.passes();
  return counted;
}

Result<CounterOutcome> CounterSession::Collect(CounterTier tier, const std::function<Status()>& launch_all,
                                               size_t launches) {
  if (unavailable_) return *unavailable_;
  if (launches == 0) return CountedLaunches{};
  return Guarded<CountedLaunches>([&](const auto& guard) { return Count(tier, guard(launch_all), launches); });
}

Result<SamplingOutcome> CounterSession::Sample(const core::CompiledModule& module, const SampledRun& run) {
  if (unavailable_) return *unavailable_;
  return Guarded<SampledLines>([&](const auto& guard) -> Result<SampledLines> {
    WW_ASSIGN(const PcSamples samples,
              SamplePcs(*cupti_, context_, {guard(run.load), guard(run.run), run.expected_us}));
    SampledLines sampled{.kernels = {},
                         .samples = samples.total,
                         .dropped = samples.dropped,
                         .foreign = samples.foreign,
                         .overflow = samples.overflow};
    const CubinLines lines(*cupti_, module.cubin);
    for (const auto& kernel : module.kernels) {
      const auto locate = [&](uint64_t pc) {
        auto where = lines.At(kernel.symbol, pc);
        if (where) where->file = NameInModule(where->file, module.ptx);
        return where;
      };
      sampled.kernels[kernel.symbol] = HottestLines(samples, kernel.symbol, locate, kLinesPerKernel);
    }
    return sampled;
  });
}

Result<std::optional<CountersUnavailable>> CountPlan(CounterSession& session, CounterTier tier, const core::Chip& chip,
                                                     const core::CompiledModule& module, const CountedRun& plan,
                                                     std::vector<core::LaunchReport>& reports) {
  if (session.unavailable()) {
    for (auto& report : reports) Fill(report, {}, chip);
    return session.unavailable();
  }
  WW_TRY(plan.prepare());
  WW_ASSIGN(const CounterOutcome outcome, session.Collect(tier, plan.run, reports.size()));
  if (const auto* unavailable = std::get_if<CountersUnavailable>(&outcome)) {
    for (auto& report : reports) Fill(report, {}, chip);
    return *unavailable;
  }
  const auto& counted = std::get<CountedLaunches>(outcome);
  const bool has_half = HasHalfArithmetic(module.ptx);
  for (size_t i = 0; i < reports.size(); ++i) {
    Fill(reports[i], counted.launches[i], chip);
    if (!has_half) reports[i].counters.flops_fp16 = 0;
  }
  plan.spent("count");
  if (tier == CounterTier::kCore) return std::nullopt;  // the hottest lines cost one or two more runs

  const auto load = [&]() -> Status {
    WW_TRY(plan.reload());
    return plan.prepare();
  };
  WW_ASSIGN(const SamplingOutcome sampling, session.Sample(module, {load, plan.run, plan.expected_us}));
  plan.spent("sample");
  if (const auto* unavailable = std::get_if<CountersUnavailable>(&sampling)) return *unavailable;
  const auto& sampled = std::get<SampledLines>(sampling);
  if (sampled.samples > 0 && sampled.foreign == sampled.samples)
    return CountersUnavailable{"there are no hottest lines: CUPTI attributes none of its samples to a kernel",
                               "use a CUPTI as new as the driver; counters and times are not concerned"};
  for (auto& report : reports) {
    const core::KernelResources* kernel = module.Find(report.kernel);
    const auto lines = sampled.kernels.find(kernel != nullptr ? kernel->symbol : std::string());
    if (lines != sampled.kernels.end()) report.lines = lines->second;
  }
  return std::nullopt;
}

}  // namespace warpwright::gpu
