#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Rotary embedding in place: x [T, H, D], the halves of a head are the pairs; cs and sn [T, D / 2].
__global__ void rope_kernel(__half* x, const float* cs, const float* sn, int T, int H, int D) {
  int half = D / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= T * H * half) return;
  int d = i % half, h = i / half % H, t = i / half / H;
  __half* head = x + ((size_t)t * H + h) * D;
  float a = __half2float(head[d]), b = __half2float(head[d + half]);
  float c = cs[t * half + d], s = sn[t * half + d];
  head[d] = __float2half(a * c - b * s);
  head[d + half] = __float2half(b * c + a * s);
}

void rope_f16(__half* x, const float* cs, const float* sn, int T, int H, int D, cudaStream_t stream) {
  int n = T * H * (D / 2);
  rope_kernel<<<(n + 127) / 128, 128, 0, stream>>>(x, cs, sn, T, H, D);
}
