// Decode attention over a paged KV cache, GQA, split over the context ("flash decoding").
//
//   q            [B, Hq, 128]
//   k/v cache    [num_blocks, 16, Hkv, 128]
//   block_tables [B, max_blocks]
//   seq_lens     [B], at least 1
//
// pass 1: (head, sequence, split) -> running max, sum and unnormalized output
// pass 2: merges the splits
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace serving {

static constexpr int kHeadDim = 128;
static constexpr int kPage = 16;
static constexpr int kWarps = 4;
static constexpr float kNegBig = -1e30f;

struct Vec4 { float x[4]; };

__device__ __forceinline__ Vec4 load4(const __half* p) {
  uint2 raw = *reinterpret_cast<const uint2*>(p);
  float2 lo = __half22float2(*reinterpret_cast<__half2*>(&raw.x));
  float2 hi = __half22float2(*reinterpret_cast<__half2*>(&raw.y));
  return Vec4{{lo.x, lo.y, hi.x, hi.y}};
}

__global__ void __launch_bounds__(kWarps * 32)
decode_split(const __half* __restrict__ q, const __half* __restrict__ kc, const __half* __restrict__ vc,
             const int* __restrict__ block_tables, const int* __restrict__ seq_lens,
             float* __restrict__ part_m, float* __restrict__ part_l, float* __restrict__ part_o,
             int Hq, int Hkv, int max_blocks, int splits, float scale) {
  const int h = blockIdx.x, b = blockIdx.y, s = blockIdx.z;
  const int kvh = h / (Hq / Hkv);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  const int len = seq_lens[b];
  const int chunk = (len + splits - 1) / splits;
  const int begin = s * chunk;
  const int end = min(len, begin + chunk);

  Vec4 qv = load4(q + ((size_t)b * Hq + h) * kHeadDim + lane * 4);

  float m = kNegBig, l = 0.f;
  Vec4 o = {{0.f, 0.f, 0.f, 0.f}};

  for (int t = begin + warp; t < end; t += kWarps) {
    const int page = block_tables[(size_t)b * max_blocks + t / kPage];
    const size_t off = (((size_t)page * kPage + t % kPage) * Hkv + kvh) * kHeadDim + lane * 4;
    Vec4 k = load4(kc + off);
    float dot = 0.f;
#pragma unroll
    for (int i = 0; i < 4; ++i) dot += qv.x[i] * k.x[i];
#pragma unroll
    for (int d = 16; d; d >>= 1) dot += __shfl_xor_sync(~0u, dot, d);
    dot *= scale;

    float m_new = fmaxf(m, dot);
    float corr = __expf(m - m_new);
    float p = __expf(dot - m_new);
    Vec4 v = load4(vc + off);
    l = l * corr + p;
#pragma unroll
    for (int i = 0; i < 4; ++i) o.x[i] = o.x[i] * corr + p * v.x[i];
    m = m_new;
  }

  __shared__ float sm[kWarps], sl[kWarps], so[kWarps][kHeadDim];
  if (lane == 0) { sm[warp] = m; sl[warp] = l; }
#pragma unroll
  for (int i = 0; i < 4; ++i) so[warp][lane * 4 + i] = o.x[i];
  __syncthreads();

  float M = kNegBig;
  for (int w = 0; w < kWarps; ++w) M = fmaxf(M, sm[w]);
  float L = 0.f, O = 0.f;
  for (int w = 0; w < kWarps; ++w) {
    float c = __expf(sm[w] - M);
    L += sl[w] * c;
    O += so[w][threadIdx.x] * c;
  }
  const size_t slot = ((size_t)b * Hq + h) * splits + s;
  part_o[slot * kHeadDim + threadIdx.x] = O;
  if (threadIdx.x == 0) { part_m[slot] = M; part_l[slot] = L; }
}

__global__ void merge_splits(const float* __restrict__ part_m, const float* __restrict__ part_l,
                             const float* __restrict__ part_o, __half* __restrict__ out, int splits) {
  const size_t row = blockIdx.x;
  float M = kNegBig;
  for (int s = 0; s < splits; ++s) M = fmaxf(M, part_m[row * splits + s]);
  float L = 0.f, O = 0.f;
  for (int s = 0; s < splits; ++s) {
    float c = __expf(part_m[row * splits + s] - M);
    L += part_l[row * splits + s] * c;
    O += part_o[(row * splits + s) * kHeadDim + threadIdx.x] * c;
  }
  out[row * kHeadDim + threadIdx.x] = __float2half(O / L);
}

void paged_decode(__half* out, const __half* q, const __half* k_cache, const __half* v_cache,
                  const int* block_tables, const int* seq_lens,
                  float* part_m, float* part_l, float* part_o,
                  int B, int Hq, int Hkv, int num_blocks, int max_blocks, int splits, float scale,
                  cudaStream_t stream) {
  (void)num_blocks;
  dim3 grid(Hq, B, splits);
  decode_split<<<grid, kWarps * 32, 0, stream>>>(q, k_cache, v_cache, block_tables, seq_lens, part_m,
                                                 part_l, part_o, Hq, Hkv, max_blocks, splits, scale);
  merge_splits<<<B * Hq, kHeadDim, 0, stream>>>(part_m, part_l, part_o, out, splits);
}

}  // namespace serving
