// libcupti, opened once per process at run time: nothing links against it, so that every program starts without it.
//
// Its host half (metric names, schedules, evaluation: cupti_host.h) needs neither a GPU nor a driver. Its target half
// finds libcuda.so.1 by itself; without a driver those calls fail with CUPTI_ERROR_UNKNOWN (999).
#pragma once

#include <cuda.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <string>

#include "base/result.h"

namespace warpwright::gpu {

// The functions that we call, by the library's own names without "cupti".
// clang-format off
#define WW_CUPTI_FUNCTIONS(X)                                                                                         \
  X(GetResultString) X(GetVersion) X(DeviceGetChipName) X(ProfilerInitialize) X(ProfilerDeviceSupported)              \
  X(ProfilerGetCounterAvailability) X(ProfilerHostInitialize)                                                          \
  X(ProfilerHostDeinitialize) X(ProfilerHostGetMetricProperties) X(ProfilerHostConfigAddMetrics)                      \
  X(ProfilerHostGetConfigImageSize) X(ProfilerHostGetConfigImage) X(ProfilerHostGetNumOfPasses)                       \
  X(ProfilerHostEvaluateToGpuValues) X(RangeProfilerEnable) X(RangeProfilerDisable)                                   \
  X(RangeProfilerGetCounterDataSize) X(RangeProfilerCounterDataImageInitialize) X(RangeProfilerSetConfig)             \
  X(RangeProfilerStart) X(RangeProfilerStop) X(RangeProfilerDecodeData) X(RangeProfilerGetCounterDataInfo)            \
  X(PCSamplingEnable) X(PCSamplingDisable) X(PCSamplingSetConfigurationAttribute) X(PCSamplingGetNumStallReasons)     \
  X(PCSamplingGetStallReasons) X(PCSamplingStart) X(PCSamplingStop) X(PCSamplingGetData)                              \
  X(GetSassToSourceCorrelation) X(GetCubinCrc)
// clang-format on

struct Cupti {
#define WW_DECLARE(name) decltype(&::cupti##name) name = nullptr;
  WW_CUPTI_FUNCTIONS(WW_DECLARE)
#undef WW_DECLARE
  std::string path;
  uint32_t version = 0;  // 130001: the library's, which may differ from the headers'

  std::string Describe(CUptiResult result) const;  // "CUPTI_ERROR_INVALID_METRIC_NAME (17)"

  // kEnvironment, with a remedy, if the system refuses counting: no permission, another profiler, an unsupported
  // device. Callers turn that into CountersUnavailable: timing and correctness checks continue without counters. kIo
  // otherwise.
  Status Check(CUptiResult result, const char* call) const;
  // The same for the calls that enable counting: there, some drivers report missing permission as an unknown error.
  Status CheckEnable(CUptiResult result, const char* call) const;
};

// kEnvironment if the toolkit has no CUPTI or one that is too old (12.6 is the first with these interfaces).
Result<const Cupti*> LoadCupti();

// Every call takes one zeroed struct that starts with the size of the version that the headers declare.
template <typename Params>
Params CuptiParams(size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}
#define WW_CUPTI_PARAMS(Type, name) auto name = ::warpwright::gpu::CuptiParams<Type>(Type##_STRUCT_SIZE)

}  // namespace warpwright::gpu
