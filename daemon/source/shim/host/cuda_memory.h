// Allocations, copies, memsets and symbols. What may have to be refused takes the caller's place (WW_HERE, launch.h).
#pragma once

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};
namespace ww {
// The line of the caller goes with what may have to be refused.
cudaError_t Allocate(void** pointer, size_t bytes, bool managed, const char* file, int line);
cudaError_t AllocatePinned(void** pointer, size_t bytes);
void AllocatesInEveryCall(const char* function);
cudaError_t AllocatePitched(void** pointer, size_t* pitch, size_t width, size_t height, const char* file, int line);
// `waits`: the host does, until it has ended.
cudaError_t Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool waits,
                 const char* file, int line);
cudaError_t Set(void* to, int value, size_t bytes, cudaStream_t stream, const char* file, int line);
// A rectangle: one operation where rows follow each other without gaps, else one for every row.
cudaError_t CopyRows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                     cudaMemcpyKind kind, cudaStream_t stream, bool waits, const char* file, int line);
cudaError_t SetRows(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream,
                    const char* file, int line);
cudaError_t CopyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                         cudaStream_t stream, bool waits, const char* file, int line);
cudaError_t CopyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                           cudaStream_t stream, bool waits, const char* file, int line);
cudaError_t SymbolAddress(void** pointer, const void* symbol, const char* file, int line);
cudaError_t SymbolSize(size_t* bytes, const void* symbol, const char* file, int line);
}  // namespace ww
template <typename T>
cudaError_t cudaMalloc(T** pointer, size_t bytes, WW_HERE) {
  ww::AllocatesInEveryCall("cudaMalloc");
  return ww::Allocate(reinterpret_cast<void**>(pointer), bytes, false, ww_file, ww_line);
}
template <typename T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t, WW_HERE) {
  return ww::Allocate(reinterpret_cast<void**>(pointer), bytes, false, ww_file, ww_line);
}
// Managed memory is a workspace that host code must not touch.
template <typename T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned = 1, WW_HERE) {
  ww::AllocatesInEveryCall("cudaMallocManaged");
  return ww::Allocate(reinterpret_cast<void**>(pointer), bytes, true, ww_file, ww_line);
}
template <typename T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height, WW_HERE) {
  ww::AllocatesInEveryCall("cudaMallocPitch");
  return ww::AllocatePitched(reinterpret_cast<void**>(pointer), pitch, width, height, ww_file, ww_line);
}
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
template <typename T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned = 0) {
  return ww::AllocatePinned(reinterpret_cast<void**>(pointer), bytes);
}
template <typename T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned) {
  return cudaMallocHost(pointer, bytes);
}
cudaError_t cudaFreeHost(void* pointer);
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, WW_HERE) {
  return ww::Copy(to, from, bytes, kind, nullptr, true, ww_file, ww_line);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream = 0, WW_HERE) {
  return ww::Copy(to, from, bytes, kind, stream, false, ww_file, ww_line);
}
inline cudaError_t cudaMemset(void* to, int value, size_t bytes, WW_HERE) {
  return ww::Set(to, value, bytes, nullptr, ww_file, ww_line);
}
inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream = 0, WW_HERE) {
  return ww::Set(to, value, bytes, stream, ww_file, ww_line);
}
inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                size_t height, cudaMemcpyKind kind, WW_HERE) {
  return ww::CopyRows(to, to_pitch, from, from_pitch, width, height, kind, nullptr, true, ww_file, ww_line);
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0, WW_HERE) {
  return ww::CopyRows(to, to_pitch, from, from_pitch, width, height, kind, stream, false, ww_file, ww_line);
}
inline cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height, WW_HERE) {
  return ww::SetRows(to, pitch, value, width, height, nullptr, ww_file, ww_line);
}
inline cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t stream = 0, WW_HERE) {
  return ww::SetRows(to, pitch, value, width, height, stream, ww_file, ww_line);
}
template <typename T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice, WW_HERE) {
  return ww::CopyToSymbol(&symbol, from, bytes, offset, kind, nullptr, true, ww_file, ww_line);
}
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                    cudaStream_t stream = 0, WW_HERE) {
  return ww::CopyToSymbol(&symbol, from, bytes, offset, kind, stream, false, ww_file, ww_line);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost, WW_HERE) {
  return ww::CopyFromSymbol(to, &symbol, bytes, offset, kind, nullptr, true, ww_file, ww_line);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream = 0, WW_HERE) {
  return ww::CopyFromSymbol(to, &symbol, bytes, offset, kind, stream, false, ww_file, ww_line);
}
template <typename T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol, WW_HERE) {
  return ww::SymbolAddress(pointer, &symbol, ww_file, ww_line);
}
template <typename T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol, WW_HERE) {
  return ww::SymbolSize(bytes, &symbol, ww_file, ww_line);
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);

// Hints: they change where managed memory is, not what is in it.
enum cudaMemLocationType { cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost };
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly,
  cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation,
  cudaMemAdviseSetAccessedBy,
  cudaMemAdviseUnsetAccessedBy
};
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = 0) { return cudaSuccess; }
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t = 0) {
  return cudaSuccess;
}
inline cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
inline cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return cudaSuccess; }
