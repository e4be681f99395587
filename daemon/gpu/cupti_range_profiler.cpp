#include "gpu/cupti_range_profiler.h"

#include <fmt/format.h>

#include <utility>

namespace warpwright::gpu {

Result<RangeProfiler> RangeProfiler::Enable(const Cupti& cupti, CUcontext context) {
  WW_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
  params.ctx = context;
  WW_TRY(cupti.CheckEnable(cupti.RangeProfilerEnable(&params), "cuptiRangeProfilerEnable"));
  return RangeProfiler(cupti, params.pRangeProfilerObject);
}

RangeProfiler::RangeProfiler(RangeProfiler&& other) noexcept
    : cupti_(other.cupti_), object_(std::exchange(other.object_, nullptr)), data_(std::move(other.data_)) {}

RangeProfiler::~RangeProfiler() {
  if (object_ == nullptr) return;
  WW_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
  params.pRangeProfilerObject = object_;
  cupti_->RangeProfilerDisable(&params);
}

Status RangeProfiler::Configure(const CuptiHost& host, size_t ranges) {
  auto names = CStrings(host.metrics());
  WW_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = ranges;
  size.maxNumRangeTreeNodes = static_cast<uint32_t>(ranges);
  WW_TRY(cupti_->Check(cupti_->RangeProfilerGetCounterDataSize(&size), "cuptiRangeProfilerGetCounterDataSize"));
  data_.assign(size.counterDataSize, 0);
  WW_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, initialize);
  initialize.pRangeProfilerObject = object_;
  initialize.counterDataSize = data_.size();
  initialize.pCounterData = data_.data();
  WW_TRY(cupti_->Check(cupti_->RangeProfilerCounterDataImageInitialize(&initialize),
                       "cuptiRangeProfilerCounterDataImageInitialize"));
  WW_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
  config.pRangeProfilerObject = object_;
  config.configSize = host.config().size();
  config.pConfig = host.config().data();
  config.counterDataImageSize = data_.size();
  config.pCounterDataImage = data_.data();
  config.range = CUPTI_AutoRange;
  config.replayMode = CUPTI_KernelReplay;
  config.maxRangesPerPass = ranges;
  config.numNestingLevels = config.minNestingLevel = config.targetNestingLevel = 1;
  return cupti_->CheckEnable(cupti_->RangeProfilerSetConfig(&config), "cuptiRangeProfilerSetConfig");
}

Status RangeProfiler::Stop() {
  WW_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
  params.pRangeProfilerObject = object_;
  WW_TRY(cupti_->Check(cupti_->RangeProfilerStop(&params), "cuptiRangeProfilerStop"));
  if (params.isAllPassSubmitted == 0) return Fail(ErrorCode::kUnsupported, "CUPTI did not replay every pass");
  return {};
}

Result<size_t> RangeProfiler::Decode() {
  WW_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
  decode.pRangeProfilerObject = object_;
  WW_TRY(cupti_->Check(cupti_->RangeProfilerDecodeData(&decode), "cuptiRangeProfilerDecodeData"));
  WW_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  WW_TRY(cupti_->Check(cupti_->RangeProfilerGetCounterDataInfo(&info), "cuptiRangeProfilerGetCounterDataInfo"));
  return info.numTotalRanges + decode.numOfRangeDropped;
}

Result<std::vector<MetricValues>> RangeProfiler::Count(const CuptiHost& host, size_t launches,
                                                       const std::function<Status()>& launch_all) {
  WW_TRY(Configure(host, launches));
  WW_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, start);
  start.pRangeProfilerObject = object_;
  WW_TRY(cupti_->CheckEnable(cupti_->RangeProfilerStart(&start), "cuptiRangeProfilerStart"));
  const Status launched = launch_all();
  const Status stopped = Stop();  // also after a failed launch: the context must not stay in profiling
  WW_TRY(launched);
  WW_TRY(stopped);
  WW_ASSIGN(const size_t ranges, Decode());
  if (ranges != launches)
    return Fail(ErrorCode::kUnsupported,
                fmt::format("CUPTI counted {} kernels where {} were launched", ranges, launches));
  std::vector<MetricValues> values;
  for (size_t range = 0; range < ranges; ++range) {
    WW_ASSIGN(values.emplace_back(), host.Evaluate(data_, range));
  }
  return values;
}

}  // namespace warpwright::gpu
