// entry: run
// buffer: x f32 64
// scalar: mode i32 1
// refused: parameter 2 of run is an enumeration (Mode mode) @ 8
#include <cuda_runtime.h>
enum class Mode { kOff, kOn };
__global__ void k(float* x, bool on) { x[threadIdx.x] = on; }
void run(float* x, Mode mode) { k<<<1, 64>>>(x, mode == Mode::kOn); }
