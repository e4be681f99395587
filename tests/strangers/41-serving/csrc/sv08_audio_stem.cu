// Stem of a speech encoder: conv1d (3, padding 1) and gelu, conv1d (3, stride 2, padding 1) and gelu, then channels go last and
// the positions are added.   mel: [B][M][T]  w1: [C][M][3]  w2: [C][C][3]  pos: [T2][C]  y: [B][T2][C],  T2 = (T - 1) / 2 + 1
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

__global__ void conv1_kernel(const __half* mel, const __half* w1, const __half* b1, float* hidden, int M, int C, int T) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y;
  int b = blockIdx.z;
  if (t >= T) return;
  float sum = __half2float(b1[c]);
  for (int m = 0; m < M; m++) {
    for (int k = 0; k < 3; k++) {
      int i = t + k - 1;
      if (i >= 0 && i < T)
        sum += __half2float(mel[((size_t)b * M + m) * T + i]) * __half2float(w1[(c * M + m) * 3 + k]);
    }
  }
  hidden[((size_t)b * C + c) * T + t] = gelu(sum);
}

__global__ void conv2_kernel(const float* hidden, const __half* w2, const __half* b2, const __half* pos, __half* y, int C, int T,
                             int T2) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int t = blockIdx.y;
  int b = blockIdx.z;
  if (c >= C) return;
  float sum = __half2float(b2[c]);
  for (int m = 0; m < C; m++) {
    for (int k = 0; k < 3; k++) {
      int i = 2 * t + k - 1;
      if (i >= 0 && i < T)
        sum += hidden[((size_t)b * C + m) * T + i] * __half2float(w2[((size_t)c * C + m) * 3 + k]);
    }
  }
  y[((size_t)b * T2 + t) * C + c] = __float2half(gelu(sum) + __half2float(pos[(size_t)t * C + c]));
}

void audio_stem(const __half* mel, const __half* w1, const __half* b1, const __half* w2, const __half* b2, const __half* pos,
                float* hidden, __half* y, int B, int M, int C, int T, cudaStream_t stream) {
  int T2 = (T - 1) / 2 + 1;
  conv1_kernel<<<dim3((T + 127) / 128, C, B), 128, 0, stream>>>(mel, w1, b1, hidden, M, C, T);
  conv2_kernel<<<dim3((C + 127) / 128, T2, B), 128, 0, stream>>>(hidden, w2, b2, pos, y, C, T, T2);
}
