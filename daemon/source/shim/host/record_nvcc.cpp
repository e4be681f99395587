// The CUDA runtime as nvcc's host code calls it: C functions with the real runtime's names, before the recorder's own.
// Linked only with a whole file that nvcc made (source/whole_host.h). What is missing here makes such a file one that
// cannot be recorded.
#include "recorder.h"

namespace ww {
namespace {

struct Pending {
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
};
std::vector<Pending>& Pushed() {
  static std::vector<Pending> pushed;
  return pushed;
}
void* handle = nullptr;  // of the only module

}  // namespace

// The real structure has another layout: the harness, which sees it, fills it from these, in this order.
struct Properties {
  char name[256];
  unsigned long values[27];
};
int DeviceProperties(Properties* out, int device);
int DeviceProperties(Properties* out, int device) {
  cudaDeviceProp p;
  if (const cudaError_t error = ::cudaGetDeviceProperties(&p, device); error != cudaSuccess) return error;
  std::memcpy(out->name, p.name, sizeof(out->name));
  const auto number = [](auto value) { return static_cast<unsigned long>(value); };
  const unsigned long values[] = {number(p.totalGlobalMem),
                                  number(p.sharedMemPerBlock),
                                  number(p.regsPerBlock),
                                  number(p.warpSize),
                                  number(p.memPitch),
                                  number(p.maxThreadsPerBlock),
                                  number(p.maxThreadsDim[0]),
                                  number(p.maxThreadsDim[1]),
                                  number(p.maxThreadsDim[2]),
                                  number(p.maxGridSize[0]),
                                  number(p.maxGridSize[1]),
                                  number(p.maxGridSize[2]),
                                  number(p.totalConstMem),
                                  number(p.major),
                                  number(p.minor),
                                  number(p.multiProcessorCount),
                                  number(p.concurrentKernels),
                                  number(p.l2CacheSize),
                                  number(p.maxThreadsPerMultiProcessor),
                                  number(p.unifiedAddressing),
                                  number(p.managedMemory),
                                  number(p.cooperativeLaunch),
                                  number(p.sharedMemPerMultiprocessor),
                                  number(p.regsPerMultiprocessor),
                                  number(p.sharedMemPerBlockOptin),
                                  number(p.maxBlocksPerMultiProcessor),
                                  number(p.reservedSharedMemPerBlock)};
  static_assert(sizeof(values) == sizeof(out->values));
  std::memcpy(out->values, values, sizeof(values));
  return cudaSuccess;
}
}  // namespace ww

// The name that other objects see; here it would be an overload of a template.
#define WW_C(result, name, ...)                              \
  extern "C" result ww_c_##name(__VA_ARGS__) __asm__(#name); \
  extern "C" result ww_c_##name(__VA_ARGS__)

// ---- what nvcc puts around a file

WW_C(void**, __cudaRegisterFatBinary, void*) { return &ww::handle; }
WW_C(void, __cudaRegisterFatBinaryEnd, void**) {}
WW_C(void, __cudaUnregisterFatBinary, void**) {}
WW_C(char, __cudaInitModule, void**) { return 1; }
WW_C(void, __cudaRegisterVar, void**, char*, char*, const char*, int, size_t, int, int) {}
WW_C(void, __cudaRegisterFunction, void**, const char* address, char*, const char* symbol, int, void*, void*, void*,
     void*, int*) {
  ww::Register(address, symbol);
}
WW_C(unsigned, __cudaPushCallConfiguration, dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
  ww::Pushed().push_back({grid, block, shared_bytes, stream});
  return 0;
}
WW_C(cudaError_t, __cudaPopCallConfiguration, dim3* grid, dim3* block, size_t* shared_bytes, cudaStream_t* stream) {
  if (ww::Pushed().empty()) return cudaErrorInvalidConfiguration;
  const ww::Pending last = ww::Pushed().back();
  ww::Pushed().pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *stream = last.stream;
  return cudaSuccess;
}
WW_C(cudaError_t, __cudaGetKernel, const void** kernel, const void* address) {
  *kernel = address;
  return cudaSuccess;
}

// ---- launches

WW_C(cudaError_t, __cudaLaunchKernel, const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
     cudaStream_t stream) {
  return ww::LaunchByAddress(kernel, grid, block, arguments, shared_bytes, stream, false, "", 0);
}
WW_C(cudaError_t, cudaLaunchKernel, const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
     cudaStream_t stream) {
  return ww::LaunchByAddress(kernel, grid, block, arguments, shared_bytes, stream, false, "", 0);
}
WW_C(cudaError_t, cudaLaunchCooperativeKernel, const void* kernel, dim3 grid, dim3 block, void** arguments,
     size_t shared_bytes, cudaStream_t stream) {
  return ww::LaunchByAddress(kernel, grid, block, arguments, shared_bytes, stream, true, "", 0);
}
WW_C(cudaError_t, cudaLaunchKernelExC, const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
  return ww::LaunchByAddress(kernel, *config, arguments, "", 0);
}
WW_C(cudaError_t, cudaFuncSetAttribute, const void* kernel, cudaFuncAttribute attribute, int value) {
  return ww::SetAttribute(kernel, attribute, value);
}
WW_C(cudaError_t, cudaFuncSetCacheConfig, const void*, cudaFuncCache) { return cudaSuccess; }
WW_C(cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessor, int* blocks, const void* kernel, int block_size,
     size_t shared_bytes) {
  return ww::ActiveBlocks(blocks, kernel, block_size, shared_bytes);
}
WW_C(cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int* blocks, const void* kernel,
     int block_size, size_t shared_bytes, unsigned) {
  return ww::ActiveBlocks(blocks, kernel, block_size, shared_bytes);
}

// ---- memory

WW_C(cudaError_t, cudaMalloc, void** pointer, size_t bytes) { return cudaMalloc(pointer, bytes, "", 0); }
WW_C(cudaError_t, cudaMallocAsync, void** pointer, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(pointer, bytes, stream, "", 0);
}
WW_C(cudaError_t, cudaMallocManaged, void** pointer, size_t bytes, unsigned flags) {
  return cudaMallocManaged(pointer, bytes, flags, "", 0);
}
WW_C(cudaError_t, cudaMallocPitch, void** pointer, size_t* pitch, size_t width, size_t height) {
  return cudaMallocPitch(pointer, pitch, width, height, "", 0);
}
WW_C(cudaError_t, cudaFree, void* pointer) { return cudaFree(pointer); }
WW_C(cudaError_t, cudaFreeAsync, void* pointer, cudaStream_t stream) { return cudaFreeAsync(pointer, stream); }
WW_C(cudaError_t, cudaMallocHost, void** pointer, size_t bytes) { return cudaMallocHost(pointer, bytes); }
WW_C(cudaError_t, cudaHostAlloc, void** pointer, size_t bytes, unsigned flags) {
  return cudaHostAlloc(pointer, bytes, flags);
}
WW_C(cudaError_t, cudaFreeHost, void* pointer) { return cudaFreeHost(pointer); }
WW_C(cudaError_t, cudaMemcpy, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpy(to, from, bytes, kind, "", 0);
}
WW_C(cudaError_t, cudaMemcpyAsync, void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, kind, stream, "", 0);
}
WW_C(cudaError_t, cudaMemset, void* to, int value, size_t bytes) { return cudaMemset(to, value, bytes, "", 0); }
WW_C(cudaError_t, cudaMemsetAsync, void* to, int value, size_t bytes, cudaStream_t stream) {
  return cudaMemsetAsync(to, value, bytes, stream, "", 0);
}
WW_C(cudaError_t, cudaMemcpy2D, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
     size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind, "", 0);
}
WW_C(cudaError_t, cudaMemcpy2DAsync, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, stream, "", 0);
}
WW_C(cudaError_t, cudaMemset2D, void* to, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2D(to, pitch, value, width, height, "", 0);
}
WW_C(cudaError_t, cudaMemset2DAsync, void* to, size_t pitch, int value, size_t width, size_t height,
     cudaStream_t stream) {
  return cudaMemset2DAsync(to, pitch, value, width, height, stream, "", 0);
}
WW_C(cudaError_t, cudaMemcpyToSymbol, const void* symbol, const void* from, size_t bytes, size_t offset,
     cudaMemcpyKind kind) {
  return ww::CopyToSymbol(symbol, from, bytes, offset, kind, nullptr, true, "", 0);
}
WW_C(cudaError_t, cudaMemcpyToSymbolAsync, const void* symbol, const void* from, size_t bytes, size_t offset,
     cudaMemcpyKind kind, cudaStream_t stream) {
  return ww::CopyToSymbol(symbol, from, bytes, offset, kind, stream, false, "", 0);
}
WW_C(cudaError_t, cudaMemcpyFromSymbol, void* to, const void* symbol, size_t bytes, size_t offset,
     cudaMemcpyKind kind) {
  return ww::CopyFromSymbol(to, symbol, bytes, offset, kind, nullptr, true, "", 0);
}
WW_C(cudaError_t, cudaMemcpyFromSymbolAsync, void* to, const void* symbol, size_t bytes, size_t offset,
     cudaMemcpyKind kind, cudaStream_t stream) {
  return ww::CopyFromSymbol(to, symbol, bytes, offset, kind, stream, false, "", 0);
}
WW_C(cudaError_t, cudaGetSymbolAddress, void** pointer, const void* symbol) {
  return ww::SymbolAddress(pointer, symbol, "", 0);
}
WW_C(cudaError_t, cudaGetSymbolSize, size_t* bytes, const void* symbol) { return ww::SymbolSize(bytes, symbol, "", 0); }
WW_C(cudaError_t, cudaMemGetInfo, size_t* free_bytes, size_t* total_bytes) {
  return cudaMemGetInfo(free_bytes, total_bytes);
}

// ---- the device, its streams and events

WW_C(cudaError_t, cudaStreamCreate, cudaStream_t* stream) { return cudaStreamCreate(stream); }
WW_C(cudaError_t, cudaStreamCreateWithFlags, cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithFlags(stream, flags);
}
WW_C(cudaError_t, cudaStreamCreateWithPriority, cudaStream_t* stream, unsigned flags, int priority) {
  return cudaStreamCreateWithPriority(stream, flags, priority);
}
WW_C(cudaError_t, cudaStreamDestroy, cudaStream_t stream) { return cudaStreamDestroy(stream); }
WW_C(cudaError_t, cudaStreamSynchronize, cudaStream_t stream) { return cudaStreamSynchronize(stream); }
WW_C(cudaError_t, cudaStreamQuery, cudaStream_t stream) { return cudaStreamQuery(stream); }
WW_C(cudaError_t, cudaStreamWaitEvent, cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return cudaStreamWaitEvent(stream, event, flags);
}
WW_C(cudaError_t, cudaEventCreate, cudaEvent_t* event) { return cudaEventCreate(event); }
WW_C(cudaError_t, cudaEventCreateWithFlags, cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}
WW_C(cudaError_t, cudaEventDestroy, cudaEvent_t event) { return cudaEventDestroy(event); }
WW_C(cudaError_t, cudaEventRecord, cudaEvent_t event, cudaStream_t stream) { return cudaEventRecord(event, stream); }
WW_C(cudaError_t, cudaEventRecordWithFlags, cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return cudaEventRecordWithFlags(event, stream, flags);
}
WW_C(cudaError_t, cudaEventSynchronize, cudaEvent_t event) { return cudaEventSynchronize(event); }
WW_C(cudaError_t, cudaEventQuery, cudaEvent_t event) { return cudaEventQuery(event); }
WW_C(cudaError_t, cudaDeviceSynchronize, void) { return cudaDeviceSynchronize(); }
WW_C(cudaError_t, cudaGetDevice, int* device) { return cudaGetDevice(device); }
WW_C(cudaError_t, cudaSetDevice, int device) { return cudaSetDevice(device); }
WW_C(cudaError_t, cudaGetDeviceCount, int* count) { return cudaGetDeviceCount(count); }
WW_C(cudaError_t, cudaDeviceGetAttribute, int* value, cudaDeviceAttr attribute, int device) {
  return cudaDeviceGetAttribute(value, attribute, device);
}
WW_C(cudaError_t, cudaDriverGetVersion, int* version) { return cudaDriverGetVersion(version); }
WW_C(cudaError_t, cudaRuntimeGetVersion, int* version) { return cudaRuntimeGetVersion(version); }
WW_C(const char*, cudaGetErrorString, cudaError_t error) { return cudaGetErrorString(error); }
WW_C(const char*, cudaGetErrorName, cudaError_t error) { return cudaGetErrorName(error); }
WW_C(cudaError_t, cudaGetLastError, void) { return cudaGetLastError(); }
WW_C(cudaError_t, cudaPeekAtLastError, void) { return cudaPeekAtLastError(); }
