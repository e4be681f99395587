// Errors, streams and events, and what the runtime tells of the device.
#include "recorder.h"

namespace ww {
namespace {

// A handle is an address of the runtime's, as it seems: a number that is small tells who answers.
template <typename Handle>
Handle HandleAt(uint64_t place) {
  return reinterpret_cast<Handle>(state.handles + place * kHandle);
}
uint64_t PlaceOf(uint64_t handle) {  // UINT64_MAX: it is none
  const uint64_t offset = handle - state.handles;
  return handle < state.handles || offset % kHandle != 0 ? UINT64_MAX : offset / kHandle;
}

}  // namespace

int StreamId(cudaStream_t stream, const char* file, int line) {
  const uint64_t value = reinterpret_cast<uint64_t>(stream);
  if (value <= 2) return state.callers_stream ? 2 : 0;
  const uint64_t id = PlaceOf(value) + 1;
  if (id == 0 || id > state.streams.size() || !state.streams[id - 1])
    Refuse("a stream that was not created is used", file, line);
  return state.callers_stream && id == 1 ? 0 : static_cast<int>(id);
}

int WorkOn(cudaStream_t stream, const char* file, int line) {
  const int id = StreamId(stream, file, line);
  state.order.Work(id, file, line);
  return id;
}

cudaStream_t CallersStream() { return state.default_stream ? nullptr : HandleAt<cudaStream_t>(0); }
void MakeCallersStream() {
  state.callers_stream = !state.default_stream;
  state.streams = {true, true};
}

namespace {

template <typename Handle>
Handle NewHandle(std::vector<bool>& live) {
  size_t id = 0;
  while (id < live.size() && live[id]) ++id;
  if (id == live.size()) live.push_back(true);
  live[id] = true;
  return HandleAt<Handle>(id);
}
template <typename Handle>
bool Release(std::vector<bool>& live, Handle handle) {
  const uint64_t id = PlaceOf(reinterpret_cast<uint64_t>(handle));
  if (id >= live.size() || !live[id]) return false;
  live[id] = false;
  return true;
}
template <typename Handle>
bool IsLive(const std::vector<bool>& live, Handle handle) {
  const uint64_t id = PlaceOf(reinterpret_cast<uint64_t>(handle));
  return id < live.size() && live[id];
}
template <typename Handle>
long long IdOf(Handle handle) {
  return static_cast<long long>(PlaceOf(reinterpret_cast<uint64_t>(handle)));
}

}  // namespace
}  // namespace ww

using ww::Error;
using ww::state;

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define WW_NAME(name, number, text) \
  case name: return #name;
    WW_ERRORS(WW_NAME)
#undef WW_NAME
  }
  return "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define WW_TEXT(name, number, text) \
  case name: return text;
    WW_ERRORS(WW_TEXT)
#undef WW_TEXT
  }
  return "unrecognized error code";
}
cudaError_t cudaPeekAtLastError() {
  state.unseen_launch_error.clear();
  return state.last_error;
}
cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  state.last_error = cudaSuccess;
  return error;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  *stream = ww::NewHandle<cudaStream_t>(state.streams);
  state.order.SetBlocking(ww::StreamId(*stream, "", 0), (flags & cudaStreamNonBlocking) == 0);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return ww::Release(state.streams, stream) ? cudaSuccess : Error(cudaErrorInvalidResourceHandle, "cudaStreamDestroy");
}
static cudaError_t HostWaits() {
  state.host_waited = !state.streams.empty();  // with the default stream alone there is nothing to order
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  ww::Waits("cudaStreamSynchronize");
  state.order.HostWaitsFor(ww::StreamId(stream, "", 0));
  return HostWaits();
}
// Whether the work has ended: it may have, or not.
static cudaError_t Ended() { return state.answers.second ? cudaErrorNotReady : cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return Ended(); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (!ww::IsLive(state.events, event)) return Error(cudaErrorInvalidResourceHandle, "cudaStreamWaitEvent");
  state.order.Wait(ww::IdOf(event), ww::StreamId(stream, "", 0));
  ww::Emit(ww::EventLine(true, ww::IdOf(event), ww::StreamId(stream, "", 0)));
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = ww::NewHandle<cudaEvent_t>(state.events);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return ww::Release(state.events, event) ? cudaSuccess : Error(cudaErrorInvalidResourceHandle, "cudaEventDestroy");
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (!ww::IsLive(state.events, event)) return Error(cudaErrorInvalidResourceHandle, "cudaEventRecord");
  state.order.Record(ww::IdOf(event), ww::StreamId(stream, "", 0));
  ww::Emit(ww::EventLine(false, ww::IdOf(event), ww::StreamId(stream, "", 0)));
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  ww::Waits("cudaEventSynchronize");
  state.order.HostWaitsForEvent(ww::IdOf(event));
  return HostWaits();
}
cudaError_t cudaEventQuery(cudaEvent_t) { return Ended(); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = state.answers.second ? 0.25f : 3.0f;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  ww::Waits("cudaDeviceSynchronize");
  state.order.HostWaitsForAll();
  return HostWaits();
}
cudaError_t cudaDeviceReset() {
  ww::ChangesDevice("cudaDeviceReset");
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = state.device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= state.answers.devices) return Error(cudaErrorInvalidDevice, "cudaSetDevice");
  state.device = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = state.answers.devices;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) {
  ww::ChangesDevice("cudaDeviceSetLimit");
  return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  ww::ChangesDevice("cudaDeviceSetCacheConfig");
  return cudaSuccess;
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  ww::ChangesDevice("cudaDeviceSetSharedMemConfig");
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device < 0 || device >= state.answers.devices) return Error(cudaErrorInvalidDevice, "cudaGetDeviceProperties");
  *p = {};
  std::snprintf(p->name, sizeof(p->name), "%s", state.answers.name.c_str());
  p->totalGlobalMem = state.answers.total_bytes;
  p->sharedMemPerBlock = ww::kDefaultSharedBytes;
  p->sharedMemPerBlockOptin = static_cast<size_t>(state.chip.shared_optin);
  p->sharedMemPerMultiprocessor = static_cast<size_t>(state.chip.shared_bytes);
  p->reservedSharedMemPerBlock = static_cast<size_t>(state.chip.shared_reserved);
  p->regsPerBlock = p->regsPerMultiprocessor = state.chip.registers;
  p->warpSize = 32;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 0x7fffffff;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->totalConstMem = 65536;
  p->major = state.chip.major;
  p->minor = state.chip.minor;
  p->multiProcessorCount = state.chip.multiprocessors;
  p->maxThreadsPerMultiProcessor = state.chip.max_warps * 32;
  p->maxBlocksPerMultiProcessor = state.chip.max_blocks;
  p->l2CacheSize = static_cast<int>(state.chip.l2_bytes);
  p->memPitch = 0x7fffffff;
  p->concurrentKernels = p->unifiedAddressing = p->managedMemory = p->cooperativeLaunch = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (const cudaError_t error = cudaGetDeviceProperties(&p, device); error != cudaSuccess) return error;
  const std::map<cudaDeviceAttr, long long> values = {
      {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
      {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
      {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
      {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
      {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
      {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
      {cudaDevAttrMaxSharedMemoryPerBlock, p.sharedMemPerBlock},
      {cudaDevAttrTotalConstantMemory, p.totalConstMem},
      {cudaDevAttrWarpSize, p.warpSize},
      {cudaDevAttrMaxPitch, p.memPitch},
      {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
      {cudaDevAttrClockRate, state.chip.clock_khz},
      {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
      {cudaDevAttrConcurrentKernels, p.concurrentKernels},
      {cudaDevAttrL2CacheSize, p.l2CacheSize},
      {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
      {cudaDevAttrUnifiedAddressing, p.unifiedAddressing},
      {cudaDevAttrComputeCapabilityMajor, p.major},
      {cudaDevAttrComputeCapabilityMinor, p.minor},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor},
      {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
      {cudaDevAttrManagedMemory, p.managedMemory},
      {cudaDevAttrConcurrentManagedAccess, p.managedMemory},
      {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin},
      {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
      {cudaDevAttrReservedSharedMemoryPerBlock, p.reservedSharedMemPerBlock}};
  const auto found = values.find(attribute);
  if (found == values.end()) return Error(cudaErrorInvalidValue, "cudaDeviceGetAttribute");
  *value = static_cast<int>(found->second);
  return cudaSuccess;
}
