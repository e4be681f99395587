// entry: run
// buffer: x f32 4
// refused: depend on addresses, on time or on chance @ 7
#include <chrono>
#include <unistd.h>
__global__ void k(float* x, long seed) { *x = seed; }
void run(float* x) { k<<<1, 1>>>(x, std::chrono::steady_clock::now().time_since_epoch().count()); }
