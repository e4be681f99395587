// entry: run
// buffer: x i64 64
// expect: launch k<long int, long int>(x, 64L, 7, 0L) 1x1x1 64x1x1
#include <cstdint>
template <typename T, typename I = int64_t> __global__ void k(T* x, I n, int, const void* = nullptr) { if (threadIdx.x < n) x[threadIdx.x] = 0; }
void run(int64_t* x) { k<<<1, 64>>>(x, int64_t(64), 7); }
