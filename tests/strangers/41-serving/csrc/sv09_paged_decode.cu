// One decoding step of attention over a paged cache. Every sequence has a table of blocks of the cache and a length; a query
// head reads the keys and values of head / R.
//   q, out: [B][KVH][R][D]   kcache, vcache: [blocks][BS][KVH][D]   table: [B][MB]   lens: [B], from 1 to MB * BS
// A block of four warps per query head: a warp per key, then a thread per feature.
#include "common.cuh"

template <typename T, int WARPS>
__global__ void __launch_bounds__(WARPS* WARP_SIZE)
    paged_decode_kernel(const T* __restrict__ q, const T* __restrict__ kcache, const T* __restrict__ vcache,
                        const int* __restrict__ table, const int* __restrict__ lens, T* __restrict__ out, int KVH, int R, int D,
                        int BS, int MB, float scale) {
  extern __shared__ float shared[];
  __shared__ float slots[WARPS];
  float* query = shared;        // [D]
  float* weight = shared + D;   // [MB * BS]

  const int head = blockIdx.x;
  const int b = blockIdx.y;
  const int kvh = head / R;
  const int warp = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
  const int len = min(lens[b], MB * BS);
  const int* pages = table + (size_t)b * MB;
  const size_t at = ((size_t)b * KVH * R + head) * D;

  for (int d = threadIdx.x; d < D; d += WARPS * WARP_SIZE) query[d] = to_float(q[at + d]) * scale;
  __syncthreads();

  float top = -INFINITY;
  for (int i = warp; i < len; i += WARPS) {
    const T* key = kcache + (((size_t)pages[i / BS] * BS + i % BS) * KVH + kvh) * D;
    float dot = 0.f;
    for (int d = lane; d < D; d += WARP_SIZE) dot += query[d] * to_float(key[d]);
    dot = warp_sum(dot);
    if (lane == 0) weight[i] = dot;
    top = fmaxf(top, dot);
  }
  top = block_max<WARPS>(top, slots);

  float sum = 0.f;
  for (int i = threadIdx.x; i < len; i += WARPS * WARP_SIZE) {
    const float e = __expf(weight[i] - top);
    weight[i] = e;
    sum += e;
  }
  const float inv = 1.f / block_sum<WARPS>(sum, slots);

  for (int d = threadIdx.x; d < D; d += WARPS * WARP_SIZE) {
    float acc = 0.f;
    for (int i = 0; i < len; ++i)
      acc += weight[i] * to_float(vcache[(((size_t)pages[i / BS] * BS + i % BS) * KVH + kvh) * D + d]);
    out[at + d] = from_float<T>(acc * inv);
  }
}

cudaError_t paged_decode(const __half* q, const __half* kcache, const __half* vcache, const int* table, const int* lens, __half* out,
                         int B, int KVH, int R, int D, int blocks, int BS, int MB, float scale, cudaStream_t stream) {
  const size_t bytes = ((size_t)MB * BS + D) * sizeof(float);
  if (blocks <= 0 || bytes > 47 * 1024) return cudaErrorInvalidValue;
  paged_decode_kernel<__half, 4><<<dim3(KVH * R, B), 4 * WARP_SIZE, bytes, stream>>>(q, kcache, vcache, table, lens, out, KVH, R, D,
                                                                                  BS, MB, scale);
  return cudaGetLastError();
}
