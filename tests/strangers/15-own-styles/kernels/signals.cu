// Scans, histograms, stencils, butterflies, interpolation, pooling.
#include <cuda_runtime.h>

// inclusive scan of rows by doubling in shared memory
__global__ void scan_rows_kernel(const float* __restrict__ x, float* __restrict__ y, int n) {
  extern __shared__ float s[];
  int i = threadIdx.x;
  s[i] = i < n ? x[blockIdx.x * n + i] : 0.f;
  __syncthreads();
  for (int o = 1; o < n; o *= 2) {
    float v = i >= o ? s[i - o] : 0.f;
    __syncthreads();
    s[i] += v;
    __syncthreads();
  }
  if (i < n) y[blockIdx.x * n + i] = s[i];
}
void scan_rows(const float* x, float* y, int rows, int n) {
  int threads = (n + 31) / 32 * 32;
  scan_rows_kernel<<<rows, threads, threads * sizeof(float)>>>(x, y, n);
}

// exclusive scan over blocks: sums of blocks, scan of these, add
__global__ void block_sums_kernel(const int* x, int* sums, int n) {
  __shared__ int s[32];
  int i = blockIdx.x * 32 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int o = 16; o > 0; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = s[0];
}
__global__ void scan_sums_kernel(int* sums, int blocks) {
  int total = 0;
  for (int b = 0; b < blocks; ++b) {
    int v = sums[b];
    sums[b] = total;
    total += v;
  }
}
__global__ void scan_add_kernel(const int* x, const int* sums, int* y, int n) {
  int i = blockIdx.x * 32 + threadIdx.x, lane = threadIdx.x;
  int v = i < n ? x[i] : 0, own = v;
  for (int o = 1; o < 32; o *= 2) {
    int u = __shfl_up_sync(0xffffffffu, v, o);
    if (lane >= o) v += u;
  }
  if (i < n) y[i] = v - own + sums[blockIdx.x];
}
void exclusive_scan(const int* x, int* sums, int* y, int n) {
  int blocks = (n + 31) / 32;
  block_sums_kernel<<<blocks, 32>>>(x, sums, n);
  scan_sums_kernel<<<1, 1>>>(sums, blocks);
  scan_add_kernel<<<blocks, 32>>>(x, sums, y, n);
}

__global__ void histogram_kernel(const int* __restrict__ x, int* __restrict__ bins, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i]], 1);
}
void histogram(const int* x, int* bins, int n, int count) {
  cudaMemset(bins, 0, count * sizeof(int));
  histogram_kernel<<<(n + 63) / 64, 64>>>(x, bins, n, count);
}

__global__ void scatter_mean_kernel(const float* __restrict__ x, const int* __restrict__ seg, float* __restrict__ sum,
                                    int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * d) atomicAdd(&sum[seg[i / d] * d + i % d], x[i]);
}
void segment_sum(const float* x, const int* seg, float* sum, int n, int d, int segments) {
  cudaMemset(sum, 0, sizeof(float) * segments * d);
  scatter_mean_kernel<<<(n * d + 127) / 128, 128>>>(x, seg, sum, n, d);
}

// several steps of a periodic 1D diffusion, two buffers in turn
__global__ void diffuse_kernel(const float* a, float* b, int n, float k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float l = a[(i + n - 1) % n], r = a[(i + 1) % n];
  b[i] = a[i] + k * (l - 2.f * a[i] + r);
}
void diffuse_steps(float* a, float* b, int n, int steps, float k) {
  for (int s = 0; s < steps; ++s) {
    diffuse_kernel<<<(n + 63) / 64, 64>>>(s % 2 ? b : a, s % 2 ? a : b, n, k);
  }
}

// Walsh-Hadamard transform of rows of 16
__global__ void hadamard_kernel(const float* x, float* y, float scale) {
  __shared__ float s[16];
  int i = threadIdx.x;
  s[i] = x[blockIdx.x * 16 + i];
  for (int h = 1; h < 16; h *= 2) {
    __syncthreads();
    float u = s[i & ~h], v = s[i | h];
    __syncthreads();
    s[i] = i & h ? u - v : u + v;
  }
  y[blockIdx.x * 16 + i] = s[i] * scale;
}
void hadamard16(const float* x, float* y, int rows, float scale) { hadamard_kernel<<<rows, 16>>>(x, y, scale); }

// DFT of length n, real to complex
__global__ void dft_kernel(const float* x, float* re, float* im, int n) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
  if (k >= n / 2 + 1) return;
  float sr = 0.f, si = 0.f;
  for (int t = 0; t < n; ++t) {
    float a = -2.f * 3.14159265f * k * t / n;
    sr += x[b * n + t] * cosf(a);
    si += x[b * n + t] * sinf(a);
  }
  re[b * (n / 2 + 1) + k] = sr;
  im[b * (n / 2 + 1) + k] = si;
}
void dft_real(const float* x, float* re, float* im, int batch, int n) {
  dft_kernel<<<dim3((n / 2 + 1 + 31) / 32, batch), 32>>>(x, re, im, n);
}

// bilinear by an integer factor, corners aligned at half pixels
__global__ void up2_bilinear_kernel(const float* __restrict__ x, float* __restrict__ y, int c, int h, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= c * 4 * h * w) return;
  int ox = i % (2 * w), oy = i / (2 * w) % (2 * h), ch = i / (4 * h * w);
  float sx = fmaxf(0.5f * (ox + 0.5f) - 0.5f, 0.f), sy = fmaxf(0.5f * (oy + 0.5f) - 0.5f, 0.f);
  int x0 = (int)sx, y0 = (int)sy, x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
  float lx = sx - x0, ly = sy - y0;
  const float* p = x + ch * h * w;
  y[i] = (1 - ly) * ((1 - lx) * p[y0 * w + x0] + lx * p[y0 * w + x1]) + ly * ((1 - lx) * p[y1 * w + x0] + lx * p[y1 * w + x1]);
}
void up2_bilinear(const float* x, float* y, int c, int h, int w) {
  up2_bilinear_kernel<<<(c * 4 * h * w + 127) / 128, 128>>>(x, y, c, h, w);
}

// adaptive average pooling to oh x ow
__global__ void adaptive_avg_kernel(const float* __restrict__ x, float* __restrict__ y, int h, int w, int oh, int ow) {
  int ox = threadIdx.x, oy = blockIdx.x, c = blockIdx.y;
  if (ox >= ow) return;
  int y0 = oy * h / oh, y1 = ((oy + 1) * h + oh - 1) / oh, x0 = ox * w / ow, x1 = ((ox + 1) * w + ow - 1) / ow;
  float s = 0.f;
  for (int i = y0; i < y1; ++i)
    for (int j = x0; j < x1; ++j) s += x[(c * h + i) * w + j];
  y[(c * oh + oy) * ow + ox] = s / ((y1 - y0) * (x1 - x0));
}
void adaptive_avg(const float* x, float* y, int c, int h, int w, int oh, int ow) {
  adaptive_avg_kernel<<<dim3(oh, c), 32>>>(x, y, h, w, oh, ow);
}

// average pooling with padding that does not count
__global__ void avg_pool_kernel(const float* __restrict__ x, float* __restrict__ y, int h, int w, int oh, int ow, int k, int s,
                                int p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
  if (i >= oh * ow) return;
  int y0 = i / ow * s - p, x0 = i % ow * s - p;
  int y1 = min(y0 + k, h), x1 = min(x0 + k, w);
  y0 = max(y0, 0), x0 = max(x0, 0);
  float a = 0.f;
  for (int yy = y0; yy < y1; ++yy)
    for (int xx = x0; xx < x1; ++xx) a += x[(c * h + yy) * w + xx];
  y[(c * oh + i / ow) * ow + i % ow] = a / ((y1 - y0) * (x1 - x0));
}
void avg_pool(const float* x, float* y, int c, int h, int w) {
  const int k = 3, s = 2, p = 1, oh = (h + 2 * p - k) / s + 1, ow = (w + 2 * p - k) / s + 1;
  avg_pool_kernel<<<dim3((oh * ow + 63) / 64, c), 64>>>(x, y, h, w, oh, ow, k, s, p);
}

// axpy with vectors of four and a tail by the last threads
__global__ void axpy_tail_kernel(const float* __restrict__ x, float* __restrict__ y, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n4 = n / 4;
  if (i < n4) {
    float4 v = reinterpret_cast<const float4*>(x)[i], w = reinterpret_cast<float4*>(y)[i];
    w.x += a * v.x, w.y += a * v.y, w.z += a * v.z, w.w += a * v.w;
    reinterpret_cast<float4*>(y)[i] = w;
  }
  int tail = n4 * 4 + i;
  if (i < n % 4) y[tail] += a * x[tail];
}
void axpy_tail(const float* x, float* y, int n, float a) { axpy_tail_kernel<<<(n / 4 + 64) / 64, 64>>>(x, y, n, a); }

// dot product of everything: partial sums of blocks, then one block
__global__ void dot_part_kernel(const float* x, const float* y, float* part, int n) {
  __shared__ float s[64];
  float v = 0.f;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) v += x[i] * y[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int o = 32; o > 0; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) part[blockIdx.x] = s[0];
}
__global__ void sum_part_kernel(const float* part, float* out, int n) {
  float v = threadIdx.x < n ? part[threadIdx.x] : 0.f;
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  if (threadIdx.x == 0) out[0] = sqrtf(v);
}
void norm_dot(const float* x, const float* y, float* part, float* out, int n) {
  dot_part_kernel<<<4, 64>>>(x, y, part, n);
  sum_part_kernel<<<1, 32>>>(part, out, 4);
}

// label smoothing loss of rows, mean over rows by atomics
__global__ void smooth_ce_kernel(const float* __restrict__ logits, const int* __restrict__ label, float* __restrict__ loss, int rows,
                                 int classes, float smooth) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* x = logits + r * classes;
  float m = x[0], s = 0.f, t = 0.f;
  for (int c = 1; c < classes; ++c) m = fmaxf(m, x[c]);
  for (int c = 0; c < classes; ++c) s += expf(x[c] - m), t += x[c];
  float lse = m + logf(s);
  float nll = lse - x[label[r]], uniform = lse - t / classes;
  atomicAdd(loss, ((1.f - smooth) * nll + smooth * uniform) / rows);
}
void smooth_cross_entropy(const float* logits, const int* label, float* loss, int rows, int classes, float smooth) {
  cudaMemset(loss, 0, sizeof(float));
  smooth_ce_kernel<<<(rows + 31) / 32, 32>>>(logits, label, loss, rows, classes, smooth);
}
