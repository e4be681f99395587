// libcuda, opened once per process at run time: nothing links against it, so that every program starts on a machine
// without a driver.
#pragma once

#include <cuda.h>

#include <string>

#include "base/result.h"

namespace warpwright::gpu {

// The functions that we call, by the driver's own names without "cu", in the versions that cuda.h declares.
// clang-format off
#define WW_CUDA_FUNCTIONS(X)                                                                                          \
  X(Init) X(DriverGetVersion) X(GetErrorName) X(GetErrorString) X(DeviceGetCount) X(DeviceGet) X(DeviceGetName)       \
  X(DeviceGetUuid) X(DeviceGetAttribute) X(DeviceTotalMem) X(DevicePrimaryCtxRetain) X(DevicePrimaryCtxRelease)       \
  X(CtxSetCurrent) X(CtxSynchronize) X(CtxSetLimit) X(CtxResetPersistingL2Cache) X(MemGetInfo) X(MemAlloc)            \
  X(MemHostAlloc) X(MemFreeHost) X(MemHostGetDevicePointer) X(MemFree) X(MemcpyHtoDAsync) X(MemcpyDtoHAsync)          \
  X(MemcpyDtoDAsync) X(MemsetD8Async) X(MemsetD16Async) X(MemsetD32Async) X(MemGetAllocationGranularity)              \
  X(MemAddressReserve) X(MemAddressFree) X(MemCreate) X(MemRelease) X(MemMap) X(MemUnmap) X(MemSetAccess)             \
  X(ModuleLoadData) X(ModuleUnload) X(ModuleGetFunction) X(ModuleGetGlobal) X(FuncSetAttribute) X(LaunchKernel)       \
  X(LaunchCooperativeKernel) X(StreamCreate) X(StreamDestroy) X(StreamSynchronize) X(StreamQuery) X(StreamWaitEvent)  \
  X(EventCreate) X(EventDestroy) X(EventRecord) X(EventElapsedTime)
// clang-format on

struct CudaDriver {
#define WW_DECLARE(name) decltype(&::cu##name) name = nullptr;
  WW_CUDA_FUNCTIONS(WW_DECLARE)
#undef WW_DECLARE
  int version = 0;  // 13000

  std::string Describe(
      CUresult result) const;  // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
  // An internal Error (kEnvironment), for calls that no kernel can cause to fail. If the result indicates that the GPU
  // is lost, GpuIsLost() is true from then on. kWorkerDied: the context is unusable, and with it this process.
  Status Check(CUresult result, const char* call) const;
};

// A call of this process failed because the GPU fell off the bus, has a memory error, or is being reset: nothing on it
// can be used or freed any more, and no kernel is at fault.
bool GpuIsLost();

// kEnvironment if there is no driver or no GPU. The driver is initialized.
Result<const CudaDriver*> LoadCudaDriver();

}  // namespace warpwright::gpu
