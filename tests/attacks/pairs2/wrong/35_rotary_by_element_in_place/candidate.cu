#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Rotary embedding in place: x [T, H, D], the halves of a head are the pairs; cs and sn [T, D / 2].
__global__ void rope_kernel(__half* x, const float* cs, const float* sn, int T, int H, int D) {
  int half = D / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= T * H * D) return;
  int d = i % D, h = i / D % H, t = i / D / H;
  __half* head = x + ((size_t)t * H + h) * D;
  float own = __half2float(head[d]), other = __half2float(head[d < half ? d + half : d - half]);
  __syncthreads();  // the pairs have been read
  float c = cs[t * half + d % half], s = sn[t * half + d % half];
  head[d] = __float2half(d < half ? own * c - other * s : own * c + other * s);
}

void rope_f16(__half* x, const float* cs, const float* sn, int T, int H, int D, cudaStream_t stream) {
  int n = T * H * D;
  rope_kernel<<<(n + 127) / 128, 128, 0, stream>>>(x, cs, sn, T, H, D);
}
