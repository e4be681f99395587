// entry: run
// buffer: x f32 64
// refused: refused_host_template.cu:9: error: @ 9
#include <cuda_runtime.h>
__global__ void k(float* x) { x[threadIdx.x] = 0; }
struct Nothing {};
template <class T, int N>
struct ALauncherWhoseNameFillsMostOfTheLinesThatTheCompilerWritesBeforeItSaysWhatIsWrongWithTheCode {
  static int threads() { if constexpr (N == 0) return T::missing; else return ALauncherWhoseNameFillsMostOfTheLinesThatTheCompilerWritesBeforeItSaysWhatIsWrongWithTheCode<T, N - 1>::threads(); }
};
void run(float* x) {
  k<<<1, ALauncherWhoseNameFillsMostOfTheLinesThatTheCompilerWritesBeforeItSaysWhatIsWrongWithTheCode<Nothing, 12>::threads()>>>(x);
}
