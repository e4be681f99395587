#include <cuda_fp16.h>
#include <cuda_runtime.h>


// 10000^(-2 i / 64); shorter heads take every second or fourth of them.
__constant__ float frequencies[32] = {
    1.0f,           0.749894202f,    0.562341332f,    0.421696514f,    0.316227764f,    0.237137377f,
    0.177827939f,   0.133352146f,    0.100000001f,    0.0749894232f,   0.0562341325f,   0.0421696492f,
    0.0316227749f,  0.0237137377f,   0.0177827943f,   0.013335214f,    0.00999999978f,  0.00749894232f,
    0.00562341325f, 0.00421696482f,  0.00316227763f,  0.00237137382f,  0.00177827943f,  0.00133352145f,
    0.00100000005f, 0.000749894185f, 0.000562341302f, 0.000421696517f, 0.000316227757f, 0.00023713737f,
    0.00017782794f, 0.00013335215f};

// Rotary embedding of x[T,H,D] at the positions start, start + 1, ...: the elements i and i + D / 2 of a head are
// rotated by position * 10000^(-2 i / D). A block has a token; sines and cosines are computed once for all of its
// heads.
__global__ void __launch_bounds__(128) rope_kernel(__half* y, const __half* x, int H, int D, int start) {
  __shared__ float sines[32], cosines[32];
  int half = D / 2, t = blockIdx.x;
  if (threadIdx.x < 32) {
    float angle = (float)(start + t) * frequencies[threadIdx.x];
    sines[threadIdx.x] = sinf(angle);
    cosines[threadIdx.x] = cosf(angle);
  }
  __syncthreads();
  for (int p = threadIdx.x; p < H * half; p += 128) {
    int i = p % half, f = i * 64 / D;
    size_t at = ((size_t)t * H + p / half) * D + i;
    float s = sines[f], c = cosines[f];
    float a = __half2float(x[at]), b = __half2float(x[at + half]);
    y[at] = __float2half(a * c - b * s);
    y[at + half] = __float2half(a * s + b * c);
  }
}

void rope(__half* y, const __half* x, int T, int H, int D, int start, cudaStream_t stream) {
  if (T <= 0 || H <= 0 || D < 2) return;
  rope_kernel<<<T, 128, 0, stream>>>(y, x, H, D, start);
}
