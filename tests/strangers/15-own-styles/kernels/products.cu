// Products: split sums, atomics, batches of small matrices, attention, recurrences.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

// every slice of K adds into C
__global__ void gemm_splitk_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
                                   int k, int slice) {
  int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || col >= n) return;
  int begin = blockIdx.z * slice, end = min(begin + slice, k);
  float s = 0.f;
  for (int i = begin; i < end; ++i) s += a[row * k + i] * b[i * n + col];
  if (begin < end) atomicAdd(&c[row * n + col], s);
}
void gemm_splitk(const float* a, const float* b, float* c, int m, int n, int k) {
  cudaMemsetAsync(c, 0, sizeof(float) * m * n);
  int splits = 4, slice = (k + splits - 1) / splits;
  gemm_splitk_kernel<<<dim3((n + 15) / 16, (m + 15) / 16, splits), dim3(16, 16)>>>(a, b, c, m, n, k, slice);
}

// 4 x 4 matrices in batches, a thread for each row
__global__ void mm4_kernel(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ c, int batch) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * 4) return;
  const float4 r = a[i];
  const float4* m = b + i / 4 * 4;
  float4 o;
  o.x = r.x * m[0].x + r.y * m[1].x + r.z * m[2].x + r.w * m[3].x;
  o.y = r.x * m[0].y + r.y * m[1].y + r.z * m[2].y + r.w * m[3].y;
  o.z = r.x * m[0].z + r.y * m[1].z + r.z * m[2].z + r.w * m[3].z;
  o.w = r.x * m[0].w + r.y * m[1].w + r.z * m[2].w + r.w * m[3].w;
  c[i] = o;
}
void mm4(const float* a, const float* b, float* c, int batch) {
  mm4_kernel<<<(batch * 4 + 63) / 64, 64>>>((const float4*)a, (const float4*)b, (float4*)c, batch);
}

// register tiles of 4 x 4 over shared tiles of 32 x 8
__global__ void gemm_regs_kernel(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ bias,
                                 float* __restrict__ c, int m, int n, int k, float alpha) {
  __shared__ float as[8][32], bs[8][32];
  const int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
  const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < k; k0 += 8) {
    for (int i = threadIdx.x; i < 256; i += 64) {
      int r = i / 8, kk = i % 8;
      as[kk][r] = row0 + r < m && k0 + kk < k ? a[(row0 + r) * k + k0 + kk] : 0.f;
      int cc = i % 32, kr = i / 32;
      bs[kr][cc] = col0 + cc < n && k0 + kr < k ? b[(k0 + kr) * n + col0 + cc] : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 8; ++kk)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += as[kk][ty * 4 + i] * bs[kk][tx * 4 + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      int r = row0 + ty * 4 + i, cc = col0 + tx * 4 + j;
      if (r < m && cc < n) {
        float v = alpha * acc[i][j] + bias[cc];
        c[r * n + cc] = 0.5f * v * (1.f + erff(v * 0.70710678f));
      }
    }
}
void gemm_bias_gelu(const float* a, const float* b, const float* bias, float* c, int m, int n, int k, float alpha) {
  gemm_regs_kernel<<<dim3((n + 31) / 32, (m + 31) / 32), 64>>>(a, b, bias, c, m, n, k, alpha);
}

// attention of one head: scores, causal softmax, values, in three kernels over a workspace
__global__ void scores_kernel(const float* __restrict__ q, const float* __restrict__ k, float* __restrict__ s, int t, int d,
                              float scale) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y, h = blockIdx.z;
  if (j >= t) return;
  float v = 0.f;
  for (int e = 0; e < d; ++e) v += q[(h * t + i) * d + e] * k[(h * t + j) * d + e];
  s[(h * t + i) * t + j] = j <= i ? v * scale : -INFINITY;
}
__global__ void softmax_rows_kernel(float* __restrict__ s, int t) {
  float* row = s + (size_t)blockIdx.x * t;
  float m = -INFINITY, z = 0.f;
  for (int j = threadIdx.x; j < t; j += 32) m = fmaxf(m, row[j]);
  for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  for (int j = threadIdx.x; j < t; j += 32) z += __expf(row[j] - m);
  for (int o = 16; o > 0; o /= 2) z += __shfl_xor_sync(~0u, z, o);
  for (int j = threadIdx.x; j < t; j += 32) row[j] = __expf(row[j] - m) / z;
}
__global__ void values_kernel(const float* __restrict__ s, const float* __restrict__ v, float* __restrict__ o, int t, int d) {
  int e = threadIdx.x, i = blockIdx.x, h = blockIdx.y;
  if (e >= d) return;
  float a = 0.f;
  for (int j = 0; j < t; ++j) a += s[(h * t + i) * t + j] * v[(h * t + j) * d + e];
  o[(h * t + i) * d + e] = a;
}
void attention_causal(const float* q, const float* k, const float* v, float* s, float* o, int heads, int t, int d) {
  scores_kernel<<<dim3((t + 31) / 32, t, heads), 32>>>(q, k, s, t, d, 1.f / sqrtf((float)d));
  softmax_rows_kernel<<<heads * t, 32>>>(s, t);
  values_kernel<<<dim3(t, heads), (d + 31) / 32 * 32>>>(s, v, o, t, d);
}

// LSTM cell: gates[4][hidden] from two products
__global__ void lstm_kernel(const float* __restrict__ x, const float* __restrict__ h, const float* __restrict__ c,
                            const float* __restrict__ wi, const float* __restrict__ wh, const float* __restrict__ b,
                            float* __restrict__ hn, float* __restrict__ cn, int nx, int nh) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (j >= nh) return;
  float g[4];
  for (int k = 0; k < 4; ++k) {
    float s = b[k * nh + j];
    for (int i = 0; i < nx; ++i) s += x[r * nx + i] * wi[(k * nh + j) * nx + i];
    for (int i = 0; i < nh; ++i) s += h[r * nh + i] * wh[(k * nh + j) * nh + i];
    g[k] = s;
  }
  const float i = 1.f / (1.f + expf(-g[0])), f = 1.f / (1.f + expf(-g[1])), o = 1.f / (1.f + expf(-g[3]));
  const float cell = f * c[r * nh + j] + i * tanhf(g[2]);
  cn[r * nh + j] = cell;
  hn[r * nh + j] = o * tanhf(cell);
}
void lstm_cell(const float* x, const float* h, const float* c, const float* wi, const float* wh, const float* b, float* hn,
               float* cn, int batch, int nx, int nh) {
  lstm_kernel<<<dim3((nh + 31) / 32, batch), 32>>>(x, h, c, wi, wh, b, hn, cn, nx, nh);
}

// rotary embedding of query rows, halves, the table of frequencies made by the launcher's base
__global__ void rope_half_kernel(float* __restrict__ q, int t, int d, float log_base) {
  int e = threadIdx.x, pos = blockIdx.x, h = blockIdx.y;
  if (e >= d / 2) return;
  float a = pos * expf(-log_base * (2.f * e / d));
  float s = sinf(a), c = cosf(a);
  float* row = q + (h * t + pos) * d;
  float u = row[e], v = row[e + d / 2];
  row[e] = u * c - v * s;
  row[e + d / 2] = v * c + u * s;
}
void rope_half(float* q, int heads, int t, int d, float base) {
  rope_half_kernel<<<dim3(t, heads), (d / 2 + 31) / 32 * 32>>>(q, t, d, logf(base));
}

// triangular product, upper
__global__ void triu_mm_kernel(const float* a, const float* b, float* c, int n) {
  int j = blockIdx.x * 8 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= n || j >= n) return;
  float s = 0.f;
  if (i <= j)
    for (int k = i; k <= j; ++k) s += a[i * n + k] * b[k * n + j];
  c[i * n + j] = s;
}
void triu_mm(const float* a, const float* b, float* c, int n) {
  triu_mm_kernel<<<dim3((n + 7) / 8, (n + 7) / 8), dim3(8, 8)>>>(a, b, c, n);
}

// Adam with the bias correction made by the host
__global__ void adam_kernel(float* p, const float* g, float* m, float* v, int n, float step, float b1, float b2, float eps) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float gi = g[i];
    float mi = m[i] = b1 * m[i] + (1.f - b1) * gi;
    float vi = v[i] = b2 * v[i] + (1.f - b2) * gi * gi;
    p[i] -= step * mi / (sqrtf(vi) + eps);
  }
}
void adam(float* p, const float* g, float* m, float* v, int n, int t, float lr, float b1, float b2, float eps) {
  float step = lr * sqrtf(1.f - powf(b2, t)) / (1.f - powf(b1, t));
  adam_kernel<<<2, 64>>>(p, g, m, v, n, step, b1, b2, eps);
}
