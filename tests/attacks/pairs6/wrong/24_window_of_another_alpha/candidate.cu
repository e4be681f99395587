#include <cuda_runtime.h>

#include <cmath>
#include <vector>


// The window is the same for all frames and all calls of one length: it is made once, on the host, and stays on the device.
static float* window = nullptr;
static int length = 0, room = 0;
static std::vector<float> values;

static void prepare(int T, float alpha, cudaStream_t stream) {
  if (T == length) return;
  if (T > room) {
    cudaFree(window);
    cudaMalloc(&window, (size_t)T * sizeof(float));
    room = T;
  }
  values.resize(T);
  const double turn = 6.283185307179586;
  for (int t = 0; t < T; ++t) values[t] = T > 1 ? (float)(alpha - (1.0 - alpha) * std::cos(turn * t / (T - 1))) : 1.0f;
  cudaMemcpyAsync(window, values.data(), (size_t)T * sizeof(float), cudaMemcpyHostToDevice, stream);
  length = T;
}

__global__ void __launch_bounds__(256) window_kernel(float* y, const float* x, const float* w, int T) {
  size_t row = (size_t)blockIdx.x * T;
  for (int t = threadIdx.x; t < T; t += 256) y[row + t] = x[row + t] * w[t];
}

// Frames that are too long for a table.
__global__ void __launch_bounds__(256) long_window_kernel(float* y, const float* x, int F, int T, float alpha) {
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (i >= (size_t)F * T) return;
  int t = i % T;
  y[i] = x[i] * (alpha - (1.0f - alpha) * cospif(2.0f * t / (T - 1)));
}

void apply_window(float* y, const float* x, int F, int T, float alpha, cudaStream_t stream) {
  if (F <= 0 || T <= 0) return;
  if (T > 16384) {
    long_window_kernel<<<(unsigned)(((size_t)F * T + 255) / 256), 256, 0, stream>>>(y, x, F, T, alpha);
    return;
  }
  prepare(T, alpha, stream);
  window_kernel<<<F, 256, 0, stream>>>(y, x, window, T);
}
