// Kernels whose time on an H200 is known (h200.csv): good and bad variants of common operations. All have one
// signature; the meaning of n and c is given with each. The test runs them on the simulated H200; measure.cu ran them
// on a real one.
#define KERNEL(name) extern "C" __global__ void name(float* __restrict__ out, const float* __restrict__ a, const float* __restrict__ b, int n, int c)

__device__ __forceinline__ float WarpSum(float x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
  return x;
}
__device__ __forceinline__ float WarpMax(float x) {
  for (int d = 16; d > 0; d /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, d));
  return x;
}

// --- streams: n elements ---
KERNEL(copy_scalar) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i];
}
KERNEL(copy_vector) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i * 4 < n) reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(a)[i];
}
KERNEL(add_scalar) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
KERNEL(add_grid_stride) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] + b[i];
}
KERNEL(copy_strided) {  // neighbours are c elements apart
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int rows = n / c;
  if (i < n) out[(i % rows) * c + i / rows] = a[(i % rows) * c + i / rows];
}
KERNEL(gelu_tanh) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = a[i];
    out[i] = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
  }
}

// --- rows: n rows of c columns ---
KERNEL(softmax_thread) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  const float* x = a + (size_t)row * c;
  float m = -1e30f, s = 0;
  for (int j = 0; j < c; ++j) m = fmaxf(m, x[j]);
  for (int j = 0; j < c; ++j) s += expf(x[j] - m);
  for (int j = 0; j < c; ++j) out[(size_t)row * c + j] = expf(x[j] - m) / s;
}
KERNEL(softmax_warp) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  const float* x = a + (size_t)row * c;
  float m = -1e30f, s = 0;
  for (int j = lane; j < c; j += 32) m = fmaxf(m, x[j]);
  m = WarpMax(m);
  for (int j = lane; j < c; j += 32) s += expf(x[j] - m);
  s = WarpSum(s);
  for (int j = lane; j < c; j += 32) out[(size_t)row * c + j] = expf(x[j] - m) / s;
}
KERNEL(softmax_block) {
  __shared__ float part[32];
  const float* x = a + (size_t)blockIdx.x * c;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  float m = -1e30f, s = 0;
  for (int j = threadIdx.x; j < c; j += blockDim.x) m = fmaxf(m, x[j]);
  m = WarpMax(m);
  if (lane == 0) part[warp] = m;
  __syncthreads();
  m = WarpMax(lane < warps ? part[lane] : -1e30f);
  __syncthreads();
  for (int j = threadIdx.x; j < c; j += blockDim.x) s += expf(x[j] - m);
  s = WarpSum(s);
  if (lane == 0) part[warp] = s;
  __syncthreads();
  s = WarpSum(lane < warps ? part[lane] : 0.0f);
  for (int j = threadIdx.x; j < c; j += blockDim.x) out[(size_t)blockIdx.x * c + j] = expf(x[j] - m) / s;
}
KERNEL(row_sum_thread) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float s = 0;
  for (int j = 0; j < c; ++j) s += a[(size_t)row * c + j];
  out[row] = s;
}
KERNEL(row_sum_warp) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float s = 0;
  for (int j = lane; j < c; j += 32) s += a[(size_t)row * c + j];
  s = WarpSum(s);
  if (lane == 0) out[row] = s;
}
KERNEL(row_sum_warp_vector) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  const float4* x = reinterpret_cast<const float4*>(a + (size_t)row * c);
  float s = 0;
#pragma unroll 4
  for (int j = lane; j < c / 4; j += 32) s += x[j].x + x[j].y + x[j].z + x[j].w;
  s = WarpSum(s);
  if (lane == 0) out[row] = s;
}
KERNEL(layernorm_warp) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  const float* x = a + (size_t)row * c;
  float mean = 0, var = 0;
  for (int j = lane; j < c; j += 32) mean += x[j];
  mean = WarpSum(mean) / c;
  for (int j = lane; j < c; j += 32) var += (x[j] - mean) * (x[j] - mean);
  float scale = rsqrtf(WarpSum(var) / c + 1e-5f);
  for (int j = lane; j < c; j += 32) out[(size_t)row * c + j] = (x[j] - mean) * scale * b[j];
}

// --- matrices: out, a and b are n by n ---
KERNEL(matmul_naive) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || col >= n) return;
  float s = 0;
  for (int k = 0; k < n; ++k) s += a[row * n + k] * b[k * n + col];
  out[row * n + col] = s;
}
KERNEL(matmul_uncoalesced) {  // threadIdx.x walks the rows
  int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || col >= n) return;
  float s = 0;
  for (int k = 0; k < n; ++k) s += a[row * n + k] * b[k * n + col];
  out[row * n + col] = s;
}
KERNEL(matmul_tiled) {  // 32 by 32 threads
  __shared__ float ta[32][32], tb[32][32];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  float s = 0;
  for (int t = 0; t < n; t += 32) {
    ta[ty][tx] = a[row * n + t + tx];
    tb[ty][tx] = b[(t + ty) * n + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; ++k) s += ta[ty][k] * tb[k][tx];
    __syncthreads();
  }
  out[row * n + col] = s;
}
KERNEL(matmul_register) {  // 64 by 64 outputs of 256 threads, 4 by 4 each
  __shared__ float ta[16][64 + 4], tb[16][64];
  int t = threadIdx.x, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64, ty = t / 16, tx = t % 16;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    for (int i = t; i < 1024; i += 256) {
      ta[i % 16][i / 16] = a[(row0 + i / 16) * n + k0 + i % 16];
      tb[i / 64][i % 64] = b[(k0 + i / 64) * n + col0 + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float4 x = *reinterpret_cast<float4*>(&ta[k][ty * 4]), y = *reinterpret_cast<float4*>(&tb[k][tx * 4]);
      float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += xs[i] * ys[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) out[(row0 + ty * 4 + i) * n + col0 + tx * 4 + j] = acc[i][j];
}
KERNEL(transpose_naive) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) out[(size_t)x * n + y + i] = a[(size_t)(y + i) * n + x];
}
KERNEL(transpose_conflicts) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = a[(size_t)(y + i) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) out[(size_t)(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}
KERNEL(transpose_padded) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = a[(size_t)(y + i) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) out[(size_t)(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

// --- atomics: n elements into c bins, an even spread ---
KERNEL(histogram_global) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(reinterpret_cast<int*>(out) + ((unsigned)i * 2654435761u >> 8) % c, 1);
}
KERNEL(histogram_shared) {
  __shared__ int bins[1024];
  for (int i = threadIdx.x; i < c; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[((unsigned)i * 2654435761u >> 8) % c], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < c; i += blockDim.x) atomicAdd(reinterpret_cast<int*>(out) + i, bins[i]);
}

// --- arithmetic: n threads, c rounds ---
KERNEL(fma_chain) {  // one dependent chain
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i % 1024];
  for (int k = 0; k < c; ++k) x = x * 0.999f + 0.001f;
  out[i] = x;
}
KERNEL(fma_parallel) {  // eight independent ones
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) x[k] = a[(i + k) % 1024];
  for (int r = 0; r < c; ++r)
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = x[k] * 0.999f + 0.001f;
  float s = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) s += x[k];
  out[i] = s;
}
KERNEL(double_parallel) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double x[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) x[k] = a[(i + k) % 1024];
  for (int r = 0; r < c; ++r)
#pragma unroll
    for (int k = 0; k < 4; ++k) x[k] = x[k] * 0.999 + 0.001;
  out[i] = (float)(x[0] + x[1] + x[2] + x[3]);
}
KERNEL(exp_parallel) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) x[k] = a[(i + k) % 1024];
  for (int r = 0; r < c; ++r)
#pragma unroll
    for (int k = 0; k < 4; ++k) x[k] = __expf(-x[k]);
  out[i] = x[0] + x[1] + x[2] + x[3];
}
KERNEL(divide_parallel) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) x[k] = a[(i + k) % 1024] + 1.5f;
  for (int r = 0; r < c; ++r)
#pragma unroll
    for (int k = 0; k < 4; ++k) x[k] = 1.7f / x[k];
  out[i] = x[0] + x[1] + x[2] + x[3];
}
KERNEL(integer_divide) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = i + 12345, y = n;
  for (int r = 0; r < c; ++r) x = x * 1664525u + x / (y - r);
  out[i] = (float)x;
}
KERNEL(shared_conflicts) {  // 32-way
  __shared__ float tile[1024];
  int t = threadIdx.x;
  for (int k = t; k < 1024; k += blockDim.x) tile[k] = a[k];
  __syncthreads();
  float s = 0;
  for (int r = 0; r < c; ++r) s += tile[(t * 32 + r) % 1024];
  out[blockIdx.x * blockDim.x + t] = s;
}
KERNEL(shared_clean) {
  __shared__ float tile[1024];
  int t = threadIdx.x;
  for (int k = t; k < 1024; k += blockDim.x) tile[k] = a[k];
  __syncthreads();
  float s = 0;
  for (int r = 0; r < c; ++r) s += tile[(t + r) % 1024];
  out[blockIdx.x * blockDim.x + t] = s;
}
