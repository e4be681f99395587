#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = softmax(q k^T * scale) v for (B, T, D) half arrays: a warp per 16 queries, keys in tiles of 16, scores and results on
// tensor cores with float accumulators. Probabilities are half, relative to the running maximum; sums are float. Head sizes
// of 16, 32 and 64 are built in, others take the plain kernel.
__device__ inline unsigned pack(__half lo, __half hi) {
  return (unsigned)__half_as_ushort(lo) | ((unsigned)__half_as_ushort(hi) << 16);
}

__device__ inline void mma16816(float* d, const unsigned* a, unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <int D>
__global__ void __launch_bounds__(32)
flash_kernel(__half* out, const __half* q, const __half* k, const __half* v, int T, float scale) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  size_t base = (size_t)blockIdx.y * T * D;
  int q0 = blockIdx.x * 16;
  const __half zero = __float2half(0.0f);
  auto at = [&](const __half* p, int row, int d) { return row < T ? p[base + (size_t)row * D + d] : zero; };
  unsigned fq[D / 16][4];
#pragma unroll
  for (int s = 0; s < D / 16; ++s) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      int row = q0 + g + e % 2 * 8, d = s * 16 + 2 * t + e / 2 * 8;
      fq[s][e] = pack(at(q, row, d), at(q, row, d + 1));
    }
  }
  float acc[D / 8][4] = {};
  float top[2] = {-INFINITY, -INFINITY}, sum[2] = {0.0f, 0.0f};
  for (int k0 = 0; k0 < T; k0 += 16) {
    float s[2][4] = {};
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      int key = k0 + 8 * j + g;
#pragma unroll
      for (int c = 0; c < D / 16; ++c) {
        int d = c * 16 + 2 * t;
        mma16816(s[j], fq[c], pack(at(k, key, d), at(k, key, d + 1)), pack(at(k, key, d + 8), at(k, key, d + 9)));
      }
    }
    unsigned fp[4];
#pragma unroll
    for (int h = 0; h < 2; ++h) {  // rows g and g + 8
      float next = top[h];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float& x = s[e / 2][2 * h + e % 2];
        x = k0 + e / 2 * 8 + 2 * t + e % 2 < T ? x * scale : -INFINITY;
        next = fmaxf(next, x);
      }
      next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, 1));
      next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, 2));
      // Nothing but -infinity so far: exponentials are taken relative to 0, and are 0.
      float from = next == -INFINITY ? 0.0f : next;
      float shrink = expf(top[h] - from);
      top[h] = next;
      sum[h] *= shrink;
#pragma unroll
      for (int c = 0; c < D / 8; ++c) {
        acc[c][2 * h] *= shrink;
        acc[c][2 * h + 1] *= shrink;
      }
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        __half lo = __float2half(expf(s[j][2 * h] - from)), hi = __float2half(expf(s[j][2 * h + 1] - from));
        sum[h] += __half2float(lo) + __half2float(hi);
        fp[2 * j + h] = pack(lo, hi);
      }
    }
#pragma unroll
    for (int c = 0; c < D / 8; ++c) {
      int key = k0 + 2 * t, d = c * 8 + g;
      mma16816(acc[c], fp, pack(at(v, key, d), at(v, key + 1, d)), pack(at(v, key + 8, d), at(v, key + 9, d)));
    }
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    sum[h] += __shfl_xor_sync(0xffffffffu, sum[h], 1);
    sum[h] += __shfl_xor_sync(0xffffffffu, sum[h], 2);
    int row = q0 + g + 8 * h;
    if (row < T) {
#pragma unroll
      for (int c = 0; c < D / 8; ++c) {
        size_t to = base + (size_t)row * D + c * 8 + 2 * t;
        out[to] = __float2half(acc[c][2 * h] / sum[h]);
        out[to + 1] = __float2half(acc[c][2 * h + 1] / sum[h]);
      }
    }
  }
}

__global__ void plain_kernel(__half* out, const __half* q, const __half* k, const __half* v, int B, int T, int D,
                                 float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * T * D) return;
  int d = i % D, row = i / D, b = row / T;
  const __half* query = q + (size_t)row * D;
  const __half* keys = k + (size_t)b * T * D;
  const __half* vals = v + (size_t)b * T * D;
  float top = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int pass = 0; pass < 2; ++pass) {
    for (int t = 0; t < T; ++t) {
      float s = 0.0f;
      for (int e = 0; e < D; ++e) s += __half2float(query[e]) * __half2float(keys[t * D + e]);
      s *= scale;
      if (pass == 0) {
        top = fmaxf(top, s);
      } else {
        float p = __half2float(__float2half(expf(s - top)));
        sum += p;
        acc += p * __half2float(vals[t * D + d]);
      }
    }
  }
  out[i] = __float2half(acc / sum);
}

void attention(__half* out, const __half* q, const __half* k, const __half* v, int B, int T, int D, float scale) {
  int n = B * T * D;
  if (n <= 0) return;
  dim3 grid((T + 15) / 16, B);
  if (B <= 65535 && D == 16) {
    flash_kernel<16><<<grid, 32>>>(out, q, k, v, T, scale);
  } else if (B <= 65535 && D == 32) {
    flash_kernel<32><<<grid, 32>>>(out, q, k, v, T, scale);
  } else if (B <= 65535 && D == 64) {
    flash_kernel<64><<<grid, 32>>>(out, q, k, v, T, scale);
  } else {
    plain_kernel<<<(n + 127) / 128, 128>>>(out, q, k, v, B, T, D, scale);
  }
}
