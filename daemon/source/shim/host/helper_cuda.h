// What launchers use of the CUDA samples' header of this name.
#pragma once

namespace ww {
inline void CheckSampleError(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, static_cast<int>(error),
               cudaGetErrorName(error), call);
  std::exit(EXIT_FAILURE);
}
}  // namespace ww
#define checkCudaErrors(call) \
  ::ww::CheckSampleError((call), #call, __FILE__, ::ww::UserLine(__FILE__, __builtin_LINE()))
#define getLastCudaError(message) \
  ::ww::CheckSampleError(cudaGetLastError(), message, __FILE__, ::ww::UserLine(__FILE__, __builtin_LINE()))
