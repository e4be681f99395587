// Row-wise things: statistics, softmaxes, top-1, quantisation, with blocks, warps and vectors.
#include <cfloat>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <typename Op>
__device__ float warp_all(float v, Op op) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v = op(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}
struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// block reduction in two levels; everybody gets the result
template <int kThreads, typename Op>
__device__ float block_all(float v, float identity, Op op) {
  __shared__ float part[kThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  v = warp_all(v, op);
  __syncthreads();
  if (lane == 0) part[warp] = v;
  __syncthreads();
  v = lane < kThreads / 32 ? part[lane] : identity;
  return warp_all(v, op);
}

__global__ void layernorm_vec_kernel(const float* __restrict__ x, const float* __restrict__ g, const float* __restrict__ b,
                                     float* __restrict__ y, int cols, float eps) {
  const float4* row = reinterpret_cast<const float4*>(x + (size_t)blockIdx.x * cols);
  float4* dst = reinterpret_cast<float4*>(y + (size_t)blockIdx.x * cols);
  float s = 0.f;
  for (int i = threadIdx.x; i < cols / 4; i += 64) {
    float4 v = row[i];
    s += v.x + v.y + v.z + v.w;
  }
  const float mean = block_all<64>(s, 0.f, Plus()) / cols;
  float q = 0.f;
  for (int i = threadIdx.x; i < cols / 4; i += 64) {
    float4 v = row[i];
    v.x -= mean, v.y -= mean, v.z -= mean, v.w -= mean;
    q += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  const float inv = rsqrtf(block_all<64>(q, 0.f, Plus()) / cols + eps);
  for (int i = threadIdx.x; i < cols / 4; i += 64) {
    float4 v = row[i], gg = reinterpret_cast<const float4*>(g)[i], bb = reinterpret_cast<const float4*>(b)[i];
    v.x = (v.x - mean) * inv * gg.x + bb.x;
    v.y = (v.y - mean) * inv * gg.y + bb.y;
    v.z = (v.z - mean) * inv * gg.z + bb.z;
    v.w = (v.w - mean) * inv * gg.w + bb.w;
    dst[i] = v;
  }
}
void layernorm_vec(const float* x, const float* g, const float* b, float* y, int rows, int cols, float eps) {
  layernorm_vec_kernel<<<rows, 64>>>(x, g, b, y, cols, eps);
}

// Welford by threads, merged by a tree in shared memory; count, mean and sum of squares
__global__ void var_welford_kernel(const float* __restrict__ x, float* __restrict__ mean, float* __restrict__ var, int cols) {
  __shared__ float sm[32], sq[32];
  __shared__ int sn[32];
  const float* row = x + (size_t)blockIdx.x * cols;
  float m = 0.f, q = 0.f;
  int n = 0;
  for (int i = threadIdx.x; i < cols; i += 32) {
    float d = row[i] - m;
    ++n;
    m += d / n;
    q += d * (row[i] - m);
  }
  sm[threadIdx.x] = m, sq[threadIdx.x] = q, sn[threadIdx.x] = n;
  for (int o = 16; o > 0; o /= 2) {
    __syncthreads();
    if (threadIdx.x < o) {
      int nb = sn[threadIdx.x + o], na = sn[threadIdx.x];
      if (nb > 0) {
        float d = sm[threadIdx.x + o] - sm[threadIdx.x];
        float w = (float)nb / (na + nb);
        sm[threadIdx.x] += d * w;
        sq[threadIdx.x] += sq[threadIdx.x + o] + d * d * na * w;
        sn[threadIdx.x] = na + nb;
      }
    }
  }
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = sm[0];
    var[blockIdx.x] = sq[0] / (cols - 1);
  }
}
void var_welford(const float* x, float* mean, float* var, int rows, int cols) {
  var_welford_kernel<<<rows, 32>>>(x, mean, var, cols);
}

// online softmax, one thread for each row
__global__ void softmax_online_kernel(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = -FLT_MAX, d = 0.f;
  for (int c = 0; c < cols; ++c) {
    float v = x[r * cols + c], n = fmaxf(m, v);
    d = d * __expf(m - n) + __expf(v - n);
    m = n;
  }
  for (int c = 0; c < cols; ++c) y[r * cols + c] = __expf(x[r * cols + c] - m) / d;
}
void softmax_online(const float* x, float* y, int rows, int cols) {
  softmax_online_kernel<<<(rows + 31) / 32, 32>>>(x, y, rows, cols);
}

__global__ void log_softmax_warp_kernel(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float m = -INFINITY, s = 0.f;
  for (int c = lane; c < cols; c += 32) m = fmaxf(m, __bfloat162float(x[(size_t)r * cols + c]));
  m = warp_all(m, Larger());
  for (int c = lane; c < cols; c += 32) s += expf(__bfloat162float(x[(size_t)r * cols + c]) - m);
  const float lse = m + logf(warp_all(s, Plus()));
  for (int c = lane; c < cols; c += 32)
    y[(size_t)r * cols + c] = __float2bfloat16(__bfloat162float(x[(size_t)r * cols + c]) - lse);
}
void log_softmax_warp(const __nv_bfloat16* x, __nv_bfloat16* y, int rows, int cols) {
  log_softmax_warp_kernel<<<(rows + 3) / 4, 128>>>(x, y, rows, cols);
}

// top-1 with its value, tree in shared memory, the lower index wins
__global__ void top1_kernel(const float* __restrict__ x, float* __restrict__ best, int* __restrict__ where, int cols) {
  __shared__ float sv[64];
  __shared__ int si[64];
  const float* row = x + (size_t)blockIdx.x * cols;
  float v = -FLT_MAX;
  int k = 0;
  for (int c = threadIdx.x; c < cols; c += 64)
    if (row[c] > v) v = row[c], k = c;
  sv[threadIdx.x] = v, si[threadIdx.x] = k;
  __syncthreads();
  for (int o = 32; o > 0; o >>= 1) {
    if (threadIdx.x < o) {
      float w = sv[threadIdx.x + o];
      int j = si[threadIdx.x + o];
      if (w > sv[threadIdx.x] || (w == sv[threadIdx.x] && j < si[threadIdx.x])) sv[threadIdx.x] = w, si[threadIdx.x] = j;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) best[blockIdx.x] = sv[0], where[blockIdx.x] = si[0];
}
void top1(const float* x, float* best, int* where, int rows, int cols) { top1_kernel<<<rows, 64>>>(x, best, where, cols); }

// absmax quantisation of rows to int8
__global__ void quant_rows_kernel(const float* __restrict__ x, signed char* __restrict__ q, float* __restrict__ scale, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float m = 0.f;
  for (int c = threadIdx.x; c < cols; c += 64) m = fmaxf(m, fabsf(row[c]));
  m = block_all<64>(m, 0.f, Larger());
  const float s = m / 127.f;
  for (int c = threadIdx.x; c < cols; c += 64) q[(size_t)blockIdx.x * cols + c] = (signed char)__float2int_rn(row[c] / s);
  if (threadIdx.x == 0) scale[blockIdx.x] = s;
}
void quant_rows(const float* x, signed char* q, float* scale, int rows, int cols) {
  quant_rows_kernel<<<rows, 64>>>(x, q, scale, cols);
}

__global__ void dequant_add_kernel(const signed char* __restrict__ q, const float* __restrict__ scale,
                                   const half2* __restrict__ residual, half2* __restrict__ out, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols / 2) return;
  float s = scale[i / (cols / 2)];
  float2 r = __half22float2(residual[i]);
  out[i] = __floats2half2_rn(q[2 * i] * s + r.x, q[2 * i + 1] * s + r.y);
}
void dequant_add(const signed char* q, const float* scale, const half* residual, half* out, int rows, int cols) {
  int n = rows * cols / 2;
  dequant_add_kernel<<<(n + 127) / 128, 128>>>(q, scale, (const half2*)residual, (half2*)out, rows, cols);
}

// L2 normalisation with a warp for each row
__global__ void l2norm_kernel(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (r >= rows) return;
  float s = 0.f;
  for (int c = lane; c < cols; c += 32) s += x[r * cols + c] * x[r * cols + c];
  s = warp_all(s, Plus());
  const float k = 1.f / fmaxf(sqrtf(s), 1e-12f);
  for (int c = lane; c < cols; c += 32) y[r * cols + c] = x[r * cols + c] * k;
}
void l2norm(const float* x, float* y, int rows, int cols) { l2norm_kernel<<<(rows * 32 + 127) / 128, 128>>>(x, y, rows, cols); }

// rms norm with the residual added first, in place
__global__ void add_rmsnorm_kernel(half* __restrict__ x, half* __restrict__ res, const half* __restrict__ w, int d, float eps) {
  float ss = 0.f;
  for (int i = threadIdx.x; i < d; i += 128) {
    float v = __half2float(x[blockIdx.x * d + i]) + __half2float(res[blockIdx.x * d + i]);
    res[blockIdx.x * d + i] = __float2half(v);
    ss += v * v;
  }
  ss = block_all<128>(ss, 0.f, Plus());
  const float inv = rsqrtf(ss / d + eps);
  for (int i = threadIdx.x; i < d; i += 128)
    x[blockIdx.x * d + i] = __float2half(__half2float(res[blockIdx.x * d + i]) * inv * __half2float(w[i]));
}
void add_rmsnorm(half* x, half* res, const half* w, int rows, int d, float eps) {
  add_rmsnorm_kernel<<<rows, 128>>>(x, res, w, d, eps);
}
