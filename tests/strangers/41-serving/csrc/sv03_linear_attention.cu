// Linear attention with the feature map elu(x) + 1, bidirectional. All of q, k: [B][S][H][D], v, out: [B][S][H][E], half.
//
//   kv[d][e] = sum_s phi(k[s][d]) v[s][e]      z[d] = sum_s phi(k[s][d])
//   out[s][e] = sum_d phi(q[s][d]) kv[d][e] / (sum_d phi(q[s][d]) z[d] + eps)
#include "common.cuh"

#define TILE 16

struct EluPlusOne {
  __device__ __forceinline__ float operator()(float x) const { return x > 0.f ? x + 1.f : expf(x); }
};

template <typename T, typename Phi>
__global__ void context_kernel(const T* __restrict__ k, const T* __restrict__ v, float* __restrict__ kv, int S, int H, int D, int E,
                               Phi phi) {
  __shared__ float ks[TILE][TILE + 1];
  __shared__ float vs[TILE][TILE];
  const int b = blockIdx.z / H, h = blockIdx.z % H;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int d0 = blockIdx.y * TILE, e0 = blockIdx.x * TILE;

  float acc = 0.f;
  for (int s0 = 0; s0 < S; s0 += TILE) {
    const int s = s0 + ty;
    const size_t at = ((size_t)b * S + s) * H + h;
    ks[ty][tx] = s < S && d0 + tx < D ? phi(to_float(k[at * D + d0 + tx])) : 0.f;
    vs[ty][tx] = s < S && e0 + tx < E ? to_float(v[at * E + e0 + tx]) : 0.f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) acc += ks[i][ty] * vs[i][tx];
    __syncthreads();
  }
  if (d0 + ty < D && e0 + tx < E) kv[((size_t)blockIdx.z * D + d0 + ty) * E + e0 + tx] = acc;
}

// 32 features and 8 slices of the sequence per block
template <typename T, typename Phi>
__global__ void normalizer_kernel(const T* __restrict__ k, float* __restrict__ z, int S, int H, int D, Phi phi) {
  __shared__ float part[8][WARP_SIZE];
  const int b = blockIdx.y / H, h = blockIdx.y % H;
  const int d = blockIdx.x * WARP_SIZE + threadIdx.x;
  float sum = 0.f;
  if (d < D) {
    for (int s = threadIdx.y; s < S; s += 8) sum += phi(to_float(k[(((size_t)b * S + s) * H + h) * D + d]));
  }
  part[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && d < D) {
    for (int i = 1; i < 8; ++i) sum += part[i][threadIdx.x];
    z[(size_t)blockIdx.y * D + d] = sum;
  }
}

template <typename T, typename Phi>
__global__ void apply_kernel(const T* __restrict__ q, const float* __restrict__ kv, const float* __restrict__ z, T* __restrict__ out,
                             int S, int H, int D, int E, float eps, Phi phi) {
  __shared__ float qs[TILE][TILE];
  __shared__ float cs[TILE][TILE];
  __shared__ float zs[TILE];
  const int b = blockIdx.z / H, h = blockIdx.z % H;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int s = blockIdx.y * TILE + ty;
  const int e = blockIdx.x * TILE + tx;
  const size_t at = ((size_t)b * S + s) * H + h;

  float num = 0.f, den = 0.f;
  for (int d0 = 0; d0 < D; d0 += TILE) {
    qs[ty][tx] = s < S && d0 + tx < D ? phi(to_float(q[at * D + d0 + tx])) : 0.f;
    cs[ty][tx] = d0 + ty < D && e < E ? kv[((size_t)blockIdx.z * D + d0 + ty) * E + e] : 0.f;
    if (ty == 0) zs[tx] = d0 + tx < D ? z[(size_t)blockIdx.z * D + d0 + tx] : 0.f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) {
      num += qs[ty][i] * cs[i][tx];
      den += qs[ty][i] * zs[i];
    }
    __syncthreads();
  }
  if (s < S && e < E) out[at * E + e] = from_float<T>(num / (den + eps));
}

extern "C" void linear_attention(const __half* q, const __half* k, const __half* v, float* kv, float* z, __half* out, int B, int S,
                                 int H, int D, int E, float eps, cudaStream_t stream) {
  const dim3 block(TILE, TILE);
  const EluPlusOne phi;
  context_kernel<<<dim3(CEIL_DIV(E, TILE), CEIL_DIV(D, TILE), B * H), block, 0, stream>>>(k, v, kv, S, H, D, E, phi);
  normalizer_kernel<<<dim3(CEIL_DIV(D, WARP_SIZE), B * H), dim3(WARP_SIZE, 8), 0, stream>>>(k, z, S, H, D, phi);
  apply_kernel<<<dim3(CEIL_DIV(E, TILE), CEIL_DIV(S, TILE), B * H), block, 0, stream>>>(q, kv, z, out, S, H, D, E, eps, phi);
}
