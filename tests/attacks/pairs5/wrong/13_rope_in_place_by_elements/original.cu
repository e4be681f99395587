#include <cuda_bf16.h>
#include <cuda_runtime.h>


// Rotates the pairs (i, i + D/2) of every head by the angles of its position. y may be x.
__global__ void rope_kernel(__nv_bfloat16* y, const __nv_bfloat16* x, const float* cosine, const float* sine, int T,
                            int H, int D) {
  size_t p = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  int half = D / 2;
  if (p >= (size_t)T * H * half) return;
  int i = p % half;
  size_t head = p / half, t = head / H;
  float u = __bfloat162float(x[head * D + i]), v = __bfloat162float(x[head * D + half + i]);
  float c = cosine[t * half + i], s = sine[t * half + i];
  y[head * D + i] = __float2bfloat16(u * c - v * s);
  y[head * D + half + i] = __float2bfloat16(v * c + u * s);
}

// D is even.
void rope_half(__nv_bfloat16* y, const __nv_bfloat16* x, const float* cosine, const float* sine, int T, int H, int D,
               cudaStream_t stream) {
  size_t pairs = (size_t)T * H * (D / 2);
  if (T <= 0 || H <= 0 || pairs == 0) return;
  rope_kernel<<<(unsigned)((pairs + 255) / 256), 256, 0, stream>>>(y, x, cosine, sine, T, H, D);
}
