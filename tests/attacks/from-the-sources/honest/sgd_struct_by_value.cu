// The coefficients travel in one structure by value; float4, float2 or scalar path by the alignment that all three pointers share.
#include <cuda_runtime.h>
#include <stdint.h>
struct Coefficients { float lr, mu, decay; };
template <int W>
struct alignas(4 * W) Pack { float v[W]; };
template <int W>
__global__ void update(float* param, float* mom, const float* grad, int n, Coefficients k) {
  long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * W;
  if (i >= n) return;
  if (i + W <= n) {
    Pack<W> p = *reinterpret_cast<Pack<W>*>(param + i), m = *reinterpret_cast<Pack<W>*>(mom + i);
    Pack<W> g = *reinterpret_cast<const Pack<W>*>(grad + i);
#pragma unroll
    for (int j = 0; j < W; ++j) {
      m.v[j] = k.mu * m.v[j] + (g.v[j] + k.decay * p.v[j]);
      p.v[j] -= k.lr * m.v[j];
    }
    *reinterpret_cast<Pack<W>*>(mom + i) = m;
    *reinterpret_cast<Pack<W>*>(param + i) = p;
  } else {
    for (; i < n; ++i) {
      float p = param[i], m = k.mu * mom[i] + (grad[i] + k.decay * p);
      mom[i] = m;
      param[i] = p - k.lr * m;
    }
  }
}
void sgd_step(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay,
              cudaStream_t stream) {
  if (n <= 0) return;
  uintptr_t bits = (uintptr_t)param | (uintptr_t)mom | (uintptr_t)grad;
  Coefficients k{lr, mu, decay};
  auto blocks = [n](int width) { return (unsigned)((n - 1) / (128 * width) + 1); };
  if (bits % 16 == 0) update<4><<<blocks(4), 128, 0, stream>>>(param, mom, grad, n, k);
  else if (bits % 8 == 0) update<2><<<blocks(2), 128, 0, stream>>>(param, mom, grad, n, k);
  else update<1><<<blocks(1), 128, 0, stream>>>(param, mom, grad, n, k);
}
