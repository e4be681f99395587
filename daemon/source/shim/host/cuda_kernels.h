// Launches, and what the runtime tells of kernels.
#pragma once

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14
};
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
};
enum { cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxL1 = 0, cudaSharedmemCarveoutMaxShared = 100 };
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout;
};
// Attributes that change neither results nor the order of launches are left out; the others are refused by number.
enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributeProgrammaticEvent = 7,
  cudaLaunchAttributePriority = 8,
  cudaLaunchAttributeMemSyncDomainMap = 9,
  cudaLaunchAttributeMemSyncDomain = 10,
  cudaLaunchAttributePreferredClusterDimension = 11,
  cudaLaunchAttributeLaunchCompletionEvent = 12,
  cudaLaunchAttributePreferredSharedMemoryCarveout = 14
};
union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int clusterSchedulingPolicyPreference, syncPolicy, programmaticStreamSerializationAllowed, priority;
  unsigned sharedMemCarveout;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  char pad[4];
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};
namespace ww {
// A configuration and where it was given: behind a pack of parameters there is no place for defaults.
struct ConfigHere {
  ConfigHere(const cudaLaunchConfig_t* given, WW_HERE) : config(*given), file(ww_file), line(ww_line) {}
  const cudaLaunchConfig_t& config;
  const char* file;
  int line;
};
void Push(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = 0, WW_HERE);
cudaError_t LaunchByAddress(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                            cudaStream_t stream, bool cooperative, const char* file, int line);
cudaError_t LaunchByAddress(const void* kernel, const cudaLaunchConfig_t& config, void** arguments, const char* file,
                            int line);
// Around a call of a kernel's stub: takes the configuration, says how the launch went.
void PushConfig(const cudaLaunchConfig_t& config, const char* file, int line);
cudaError_t TakeLaunchResult();
cudaError_t SetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t GetAttributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t ActiveBlocks(int* blocks, const void* kernel, int block_size, size_t shared_bytes);
cudaError_t PotentialBlockSize(int* grid, int* block, const void* kernel, size_t shared_bytes, int limit);
template <typename K>
const void* AddressOf(K kernel) {
  return reinterpret_cast<const void*>(kernel);
}
}  // namespace ww
template <typename K>
cudaError_t cudaLaunchKernel(K* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                             cudaStream_t stream = 0, WW_HERE) {
  return ww::LaunchByAddress(ww::AddressOf(kernel), grid, block, arguments, shared_bytes, stream, false, ww_file,
                             ww_line);
}
template <typename K>
cudaError_t cudaLaunchCooperativeKernel(K* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                                        cudaStream_t stream = 0, WW_HERE) {
  return ww::LaunchByAddress(ww::AddressOf(kernel), grid, block, arguments, shared_bytes, stream, true, ww_file,
                             ww_line);
}
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(ww::ConfigHere here, void (*kernel)(Parameters...), Arguments&&... arguments) {
  ww::PushConfig(here.config, here.file, here.line);
  kernel(static_cast<Parameters>(std::forward<Arguments>(arguments))...);
  return ww::TakeLaunchResult();
}
inline cudaError_t cudaLaunchKernelExC(ww::ConfigHere here, const void* kernel, void** arguments) {
  return ww::LaunchByAddress(kernel, here.config, arguments, here.file, here.line);
}
template <typename K>
cudaError_t cudaFuncSetAttribute(K* kernel, cudaFuncAttribute attribute, int value) {
  return ww::SetAttribute(ww::AddressOf(kernel), attribute, value);
}
template <typename K>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, K* kernel) {
  return ww::GetAttributes(attributes, ww::AddressOf(kernel));
}
template <typename K>
cudaError_t cudaFuncSetCacheConfig(K*, cudaFuncCache) {
  return cudaSuccess;
}
template <typename K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, K kernel, int block_size, size_t shared_bytes) {
  return ww::ActiveBlocks(blocks, ww::AddressOf(kernel), block_size, shared_bytes);
}
template <typename K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, K kernel, int block_size,
                                                                   size_t shared_bytes, unsigned) {
  return ww::ActiveBlocks(blocks, ww::AddressOf(kernel), block_size, shared_bytes);
}
template <typename K>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, K kernel, size_t shared_bytes = 0,
                                               int limit = 0) {
  return ww::PotentialBlockSize(grid, block, ww::AddressOf(kernel), shared_bytes, limit);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
