#include "gpu/cupti_host.h"

#include <cmath>
#include <utility>

namespace warpwright::gpu {

std::vector<const char*> CStrings(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  pointers.reserve(names.size());
  for (const auto& name : names) pointers.push_back(name.c_str());
  return pointers;
}

Result<CuptiHost> CuptiHost::Create(const Cupti& cupti, const std::string& chip, std::span<const uint8_t> availability,
                                    std::span<const std::string> wanted) {
  WW_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, initialize);
  initialize.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  initialize.pChipName = chip.c_str();
  initialize.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  const CUptiResult result = cupti.ProfilerHostInitialize(&initialize);
  if (result != CUPTI_SUCCESS)
    return Fail(ErrorCode::kEnvironment, "CUPTI does not know the chip " + chip + ": " + cupti.Describe(result),
                "install the CUPTI of a CUDA that is as new as the chip");
  CuptiHost host(cupti, initialize.pHostObject);
  for (const auto& metric : wanted) {
    WW_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, properties);
    properties.pHostObject = host.object_;
    properties.pMetricName = metric.c_str();
    const bool known = cupti.ProfilerHostGetMetricProperties(&properties) == CUPTI_SUCCESS;
    (known ? host.metrics_ : host.unknown_).push_back(metric);
  }
  if (host.metrics_.empty()) return Fail(ErrorCode::kUnsupported, "the chip " + chip + " has none of the metrics");
  WW_TRY(host.Schedule());
  return host;
}

Status CuptiHost::Schedule() {
  auto names = CStrings(metrics_);
  WW_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
  add.pHostObject = object_;
  add.ppMetricNames = names.data();
  add.numMetrics = names.size();
  WW_TRY(cupti_->Check(cupti_->ProfilerHostConfigAddMetrics(&add), "cuptiProfilerHostConfigAddMetrics"));
  WW_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = object_;
  WW_TRY(cupti_->Check(cupti_->ProfilerHostGetConfigImageSize(&size), "cuptiProfilerHostGetConfigImageSize"));
  config_.resize(size.configImageSize);
  WW_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = object_;
  image.configImageSize = config_.size();
  image.pConfigImage = config_.data();
  WW_TRY(cupti_->Check(cupti_->ProfilerHostGetConfigImage(&image), "cuptiProfilerHostGetConfigImage"));
  WW_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
  passes.configImageSize = config_.size();
  passes.pConfigImage = config_.data();
  WW_TRY(cupti_->Check(cupti_->ProfilerHostGetNumOfPasses(&passes), "cuptiProfilerHostGetNumOfPasses"));
  passes_ = passes.numOfPasses;
  return {};
}

CuptiHost::CuptiHost(CuptiHost&& other) noexcept
    : cupti_(other.cupti_),
      object_(std::exchange(other.object_, nullptr)),
      metrics_(std::move(other.metrics_)),
      unknown_(std::move(other.unknown_)),
      config_(std::move(other.config_)),
      passes_(other.passes_) {}

CuptiHost& CuptiHost::operator=(CuptiHost&& other) noexcept {
  std::swap(cupti_, other.cupti_);
  std::swap(object_, other.object_);
  std::swap(metrics_, other.metrics_);
  std::swap(unknown_, other.unknown_);
  std::swap(config_, other.config_);
  std::swap(passes_, other.passes_);
  return *this;
}

CuptiHost::~CuptiHost() {
  if (object_ == nullptr) return;
  WW_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
  params.pHostObject = object_;
  cupti_->ProfilerHostDeinitialize(&params);
}

Result<MetricValues> CuptiHost::Evaluate(std::span<const uint8_t> counter_data, size_t range) const {
  auto names = CStrings(metrics_);
  std::vector<double> numbers(names.size());
  WW_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
  params.pHostObject = object_;
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.rangeIndex = range;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = numbers.data();
  WW_TRY(cupti_->Check(cupti_->ProfilerHostEvaluateToGpuValues(&params), "cuptiProfilerHostEvaluateToGpuValues"));
  MetricValues values;
  for (size_t i = 0; i < numbers.size(); ++i)
    if (std::isfinite(numbers[i])) values[metrics_[i]] = numbers[i];
  return values;
}

}  // namespace warpwright::gpu
