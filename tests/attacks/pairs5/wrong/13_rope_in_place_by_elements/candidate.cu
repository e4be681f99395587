#include <cuda_bf16.h>
#include <cuda_runtime.h>


// A thread per element: consecutive threads store consecutive elements, and twice as many loads are under way. A block has
// the heads of one position, so that nothing is divided.
__global__ void rope_kernel(__nv_bfloat16* y, const __nv_bfloat16* x, const float* cosine, const float* sine, int H,
                            int D) {
  int d = threadIdx.x, half = D / 2;
  size_t t = blockIdx.x, head = t * H;
  for (int h = threadIdx.y; h < H; h += blockDim.y)
    for (int e = d; e < D; e += blockDim.x) {
      int i = e < half ? e : e - half;
      size_t base = (head + h) * D;
      float own = __bfloat162float(x[base + e]);
      float other = __bfloat162float(x[base + (e < half ? e + half : e - half)]);
      float c = cosine[t * half + i], s = sine[t * half + i];
      y[base + e] = __float2bfloat16(e < half ? own * c - other * s : own * c + other * s);
    }
}

// D is even.
void rope_half(__nv_bfloat16* y, const __nv_bfloat16* x, const float* cosine, const float* sine, int T, int H, int D,
               cudaStream_t stream) {
  size_t pairs = (size_t)T * H * (D / 2);
  if (T <= 0 || H <= 0 || pairs == 0) return;
  rope_kernel<<<T, dim3(128, 2), 0, stream>>>(y, x, cosine, sine, H, D);
}
