// A libcuda.so.1 without a GPU: memory is the host's, copies and fills complete immediately, kernels do nothing. For
// tests of how the driver's results are handled. All of a function's parameters are words, as in
// tests/gpu/lose_gpu.cpp.
#include <cstdint>
#include <cstdlib>
#include <cstring>

using Word = std::uint64_t;

namespace {
constexpr int kComputeMajor = 75, kComputeMinor = 76, kMultiprocessors = 16, kClock = 13, kMemoryClock = 36,
              kBusWidth = 37, kL2 = 38, kSharedOptin = 97;
unsigned char variable[32];  // the one of a module that is found, "table"
template <typename T>
T* At(Word address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr): all arguments are words here
}
template <typename T>
int Put(Word to, T value) {
  std::memcpy(At<void>(to), static_cast<const void*>(&value), sizeof value);
  return 0;
}
}  // namespace

#define WW_EXPORT extern "C" __attribute__((visibility("default")))
#define WW_NOTHING(name) \
  WW_EXPORT int name() { return 0; }
#define WW_HANDLE(name) \
  WW_EXPORT int name(Word to) { return Put(to, Word{0x1000}); }

WW_EXPORT int cuInit(Word) { return 0; }
WW_EXPORT int cuGetExportTable() { return 500; }  // NVRTC queries it if a libcuda is loaded
WW_EXPORT int cuDriverGetVersion(Word to) { return Put(to, int{13000}); }
WW_EXPORT int cuGetErrorName(Word, Word to) { return Put(to, "CUDA_ERROR_FAKE"); }
WW_EXPORT int cuGetErrorString(Word, Word to) { return Put(to, "made up by a test"); }
WW_EXPORT int cuDeviceGetCount(Word to) { return Put(to, int{1}); }
WW_EXPORT int cuDeviceGet(Word to, Word) { return Put(to, int{0}); }
WW_EXPORT int cuDeviceGetName(Word to, Word) { return std::strcpy(At<char>(to), "NVIDIA H200") == nullptr; }
WW_EXPORT int cuDeviceGetUuid_v2(Word to, Word) { return std::memset(At<void>(to), 0xab, 16) == nullptr; }
WW_EXPORT int cuDeviceTotalMem_v2(Word to, Word) { return Put(to, Word{1} << 32); }
WW_EXPORT int cuDeviceGetAttribute(Word to, Word attribute, Word) {
  switch (attribute) {
    case kComputeMajor: return Put(to, int{9});
    case kComputeMinor: return Put(to, int{0});
    case kMultiprocessors: return Put(to, int{132});
    case kClock: return Put(to, int{1980000});
    case kMemoryClock: return Put(to, int{3201000});
    case kBusWidth: return Put(to, int{6144});
    case kL2: return Put(to, int{1 << 20});
    case kSharedOptin: return Put(to, int{232448});
    default: return Put(to, int{0});
  }
}
WW_HANDLE(cuDevicePrimaryCtxRetain)
WW_NOTHING(cuDevicePrimaryCtxRelease_v2)
WW_NOTHING(cuCtxSetCurrent)
WW_NOTHING(cuCtxSynchronize)
WW_NOTHING(cuCtxSetLimit)
WW_NOTHING(cuCtxResetPersistingL2Cache)
WW_EXPORT int cuMemGetInfo_v2(Word free, Word total) { return Put(free, Word{1} << 32) + Put(total, Word{1} << 32); }
WW_EXPORT int cuMemAlloc_v2(Word to, Word bytes) {
  return Put(to, std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
}
WW_EXPORT int cuMemFree_v2(Word at) {
  std::free(At<void>(at));
  return 0;
}
WW_EXPORT int cuMemHostAlloc(Word to, Word bytes) { return cuMemAlloc_v2(to, bytes); }
WW_EXPORT int cuMemHostGetDevicePointer_v2(Word to, Word host) { return Put(to, host); }
WW_EXPORT int cuMemFreeHost(Word at) { return cuMemFree_v2(at); }
WW_EXPORT int cuMemcpyHtoDAsync_v2(Word to, Word from, Word bytes) {
  std::memcpy(At<void>(to), At<const void>(from), bytes);
  return 0;
}
WW_EXPORT int cuMemcpyDtoHAsync_v2(Word to, Word from, Word bytes) { return cuMemcpyHtoDAsync_v2(to, from, bytes); }
WW_EXPORT int cuMemcpyDtoDAsync_v2(Word to, Word from, Word bytes) { return cuMemcpyHtoDAsync_v2(to, from, bytes); }
WW_EXPORT int cuMemsetD8Async(Word to, Word value, Word bytes) {
  std::memset(At<void>(to), static_cast<int>(value & 0xff), bytes);
  return 0;
}
WW_NOTHING(cuMemsetD16Async)
WW_NOTHING(cuMemsetD32Async)
WW_EXPORT int cuMemGetAllocationGranularity(Word to) { return Put(to, Word{1} << 21); }
WW_NOTHING(cuMemAddressReserve)
WW_NOTHING(cuMemAddressFree)
WW_NOTHING(cuMemCreate)
WW_NOTHING(cuMemRelease)
WW_NOTHING(cuMemMap)
WW_NOTHING(cuMemUnmap)
WW_NOTHING(cuMemSetAccess)
WW_EXPORT int cuModuleLoadData(Word to) {
  std::memset(variable, 0, sizeof variable);
  return Put(to, Word{0x1000});
}
WW_NOTHING(cuModuleUnload)
WW_HANDLE(cuModuleGetFunction)
WW_EXPORT int cuModuleGetGlobal_v2(Word to, Word bytes, Word, Word name) {
  if (std::strstr(At<const char>(name), "table") == nullptr) return 500;  // not found
  return Put(to, &variable[0]) + Put(bytes, Word{sizeof variable});
}
WW_NOTHING(cuFuncSetAttribute)
WW_NOTHING(cuLaunchKernel)
WW_NOTHING(cuLaunchCooperativeKernel)
WW_HANDLE(cuStreamCreate)
WW_NOTHING(cuStreamDestroy_v2)
WW_NOTHING(cuStreamSynchronize)
WW_NOTHING(cuStreamQuery)
WW_NOTHING(cuStreamWaitEvent)
WW_HANDLE(cuEventCreate)
WW_NOTHING(cuEventDestroy_v2)
WW_NOTHING(cuEventRecord)
WW_EXPORT int cuEventElapsedTime(Word to) { return Put(to, 0.01f); }
WW_EXPORT int cuEventElapsedTime_v2(Word to) { return Put(to, 0.01f); }
