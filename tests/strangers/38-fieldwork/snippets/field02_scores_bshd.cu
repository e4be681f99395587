#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Attention logits straight from the (batch, seq, head, dim) layout that our projection writes, so that nobody has to
// transpose q and k first:
//
//     scores[b][h][s][t] = scale * sum_d q[b][s][h][d] * k[b][t][h][d]
//
// i.e. a batched NT product with a row stride of H * D.

namespace {

template <int TILE>
__global__ void qk_bshd(const __half* __restrict__ q, const __half* __restrict__ k, __half* __restrict__ scores,
                        int S, int T, int H, int D, float scale) {
  __shared__ float qTile[TILE][TILE + 1];
  __shared__ float kTile[TILE][TILE + 1];

  const int b = blockIdx.z / H;
  const int h = blockIdx.z % H;
  const int s = blockIdx.y * TILE + threadIdx.y;
  const int t = blockIdx.x * TILE + threadIdx.x;
  const int tLoad = blockIdx.x * TILE + threadIdx.y;
  const size_t rowStride = (size_t)H * D;

  const __half* qHead = q + (size_t)b * S * rowStride + (size_t)h * D;
  const __half* kHead = k + (size_t)b * T * rowStride + (size_t)h * D;

  float acc = 0.f;
  for (int d0 = 0; d0 < D; d0 += TILE) {
    const int d = d0 + threadIdx.x;
    qTile[threadIdx.y][threadIdx.x] = (s < S && d < D) ? __half2float(qHead[s * rowStride + d]) : 0.f;
    kTile[threadIdx.y][threadIdx.x] = (tLoad < T && d < D) ? __half2float(kHead[tLoad * rowStride + d]) : 0.f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) {
      acc += qTile[threadIdx.y][i] * kTile[threadIdx.x][i];
    }
    __syncthreads();
  }

  if (s < S && t < T) {
    scores[(((size_t)b * H + h) * S + s) * T + t] = __float2half(scale * acc);
  }
}

}  // namespace

extern "C" cudaError_t scores_bshd(const __half* q, const __half* k, __half* scores, int B, int S, int T, int H, int D,
                                   float scale, cudaStream_t stream) {
  constexpr int kTile = 16;
  dim3 block(kTile, kTile);
  dim3 grid((T + kTile - 1) / kTile, (S + kTile - 1) / kTile, B * H);
  qk_bshd<kTile><<<grid, block, 0, stream>>>(q, k, scores, S, T, H, D, scale);
  return cudaGetLastError();
}
