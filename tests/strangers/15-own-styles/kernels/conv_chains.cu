// Chains in half precision with sizes that are compiled in, as ports of benchmark tasks are written.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define N_ 2
#define CI 3
#define CO 4
#define H_ 9
#define W_ 8
#define K_ 3
#define OH (H_ - K_ + 1)
#define OW (W_ - K_ + 1)

__global__ void conv_bias_kernel(const half* __restrict__ x, const half* __restrict__ w, const half* __restrict__ b,
                                 half* __restrict__ y) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= N_ * CO * OH * OW) return;
  int ow = idx % OW, oh = (idx / OW) % OH, co = (idx / (OW * OH)) % CO, n = idx / (OW * OH * CO);
  float acc = __half2float(b[co]);
  for (int ci = 0; ci < CI; ++ci)
    for (int kh = 0; kh < K_; ++kh)
      for (int kw = 0; kw < K_; ++kw)
        acc += __half2float(x[((n * CI + ci) * H_ + oh + kh) * W_ + ow + kw]) *
               __half2float(w[((co * CI + ci) * K_ + kh) * K_ + kw]);
  y[idx] = __float2half(acc);
}

__global__ void mish_kernel(half* y, int total) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= total) return;
  float v = __half2float(y[idx]);
  y[idx] = __float2half(v * tanhf(log1pf(expf(v))));
}

__global__ void pool2_kernel(const half* __restrict__ y, half* __restrict__ out) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= N_ * CO * (OH / 2) * (OW / 2)) return;
  int ow = idx % (OW / 2), oh = idx / (OW / 2) % (OH / 2), nc = idx / ((OW / 2) * (OH / 2));
  const half* p = y + (nc * OH + oh * 2) * OW + ow * 2;
  float m = fmaxf(fmaxf(__half2float(p[0]), __half2float(p[1])), fmaxf(__half2float(p[OW]), __half2float(p[OW + 1])));
  out[idx] = __float2half(m);
}

void conv_mish_pool(const half* x, const half* w, const half* b, half* tmp, half* out) {
  int total = N_ * CO * OH * OW;
  conv_bias_kernel<<<(total + 127) / 128, 128>>>(x, w, b, tmp);
  mish_kernel<<<(total + 127) / 128, 128>>>(tmp, total);
  int pooled = N_ * CO * (OH / 2) * (OW / 2);
  pool2_kernel<<<(pooled + 127) / 128, 128>>>(tmp, out);
}

// group norm over what the convolution wrote, two channels a group, with a block for each group
__global__ void group_stats_kernel(const half* __restrict__ y, float* __restrict__ mean, float* __restrict__ rstd) {
  __shared__ float s1[64], s2[64];
  const int size = CO / 2 * OH * OW;
  const half* p = y + blockIdx.x * size;
  float a = 0.f, q = 0.f;
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    float v = __half2float(p[i]);
    a += v;
    q += v * v;
  }
  s1[threadIdx.x] = a;
  s2[threadIdx.x] = q;
  __syncthreads();
  for (int o = blockDim.x / 2; o > 0; o /= 2) {
    if (threadIdx.x < o) {
      s1[threadIdx.x] += s1[threadIdx.x + o];
      s2[threadIdx.x] += s2[threadIdx.x + o];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    float mu = s1[0] / size;
    mean[blockIdx.x] = mu;
    rstd[blockIdx.x] = rsqrtf(s2[0] / size - mu * mu + 1e-5f);
  }
}

__global__ void group_apply_hardswish_kernel(const half* __restrict__ y, const float* __restrict__ mean,
                                             const float* __restrict__ rstd, half* __restrict__ out) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= N_ * CO * OH * OW) return;
  int g = idx / (CO / 2 * OH * OW);
  float v = (__half2float(y[idx]) - mean[g]) * rstd[g];
  v = v * fminf(fmaxf(v + 3.f, 0.f), 6.f) / 6.f;
  out[idx] = __float2half(v);
}

void conv_groupnorm_hardswish(const half* x, const half* w, const half* b, half* tmp, float* mean, float* rstd, half* out) {
  int total = N_ * CO * OH * OW;
  conv_bias_kernel<<<(total + 127) / 128, 128>>>(x, w, b, tmp);
  group_stats_kernel<<<N_ * 2, 64>>>(tmp, mean, rstd);
  group_apply_hardswish_kernel<<<(total + 255) / 256, 256>>>(tmp, mean, rstd, out);
}

// transposed convolution, gather form, stride 2, padding 1; then a mean over space and a bias
__global__ void deconv_gather_kernel(const half* __restrict__ x, const half* __restrict__ w, float* __restrict__ y, int n,
                                     int ci, int h, int wd, int co) {
  const int oh = (h - 1) * 2 - 2 + 3, ow = (wd - 1) * 2 - 2 + 3;
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= n * co * oh * ow) return;
  int ox = idx % ow, oy = idx / ow % oh, o = idx / (ow * oh) % co, b = idx / (ow * oh * co);
  float acc = 0.f;
  for (int c = 0; c < ci; ++c)
    for (int ky = 0; ky < 3; ++ky) {
      int ty = oy + 1 - ky;
      if (ty < 0 || ty % 2 != 0) continue;
      int iy = ty / 2;
      if (iy >= h) continue;
      for (int kx = 0; kx < 3; ++kx) {
        int tx = ox + 1 - kx;
        if (tx < 0 || tx % 2 != 0) continue;
        int ix = tx / 2;
        if (ix >= wd) continue;
        acc += __half2float(x[((b * ci + c) * h + iy) * wd + ix]) * __half2float(w[((c * co + o) * 3 + ky) * 3 + kx]);
      }
    }
  y[idx] = acc;
}

__global__ void mean_bias_kernel(const float* __restrict__ y, const half* __restrict__ bias, half* __restrict__ out, int co,
                                 int spatial) {
  float s = 0.f;
  const float* p = y + blockIdx.x * spatial;
  for (int i = threadIdx.x; i < spatial; i += 32) s += p[i];
  for (int o = 16; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
  if (threadIdx.x == 0) out[blockIdx.x] = __float2half(s / spatial + __half2float(bias[blockIdx.x % co]));
}

void deconv_mean_bias(const half* x, const half* w, const half* bias, float* tmp, half* out, int n, int ci, int h, int wd,
                      int co) {
  const int oh = 2 * h - 1, ow = 2 * wd - 1;
  int total = n * co * oh * ow;
  deconv_gather_kernel<<<(total + 127) / 128, 128>>>(x, w, tmp, n, ci, h, wd, co);
  mean_bias_kernel<<<n * co, 32>>>(tmp, bias, out, co, oh * ow);
}

// channels last, a thread for each output channel
__global__ void conv_nhwc_relu_kernel(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
                                      float* __restrict__ y, int h, int wd, int ci, int co, int pad) {
  int o = threadIdx.x, px = blockIdx.x, py = blockIdx.y, n = blockIdx.z;
  if (o >= co) return;
  float acc = b[o];
  for (int ky = 0; ky < 3; ky++) {
    int iy = py + ky - pad;
    if (iy < 0 || iy >= h) continue;
    for (int kx = 0; kx < 3; kx++) {
      int ix = px + kx - pad;
      if (ix < 0 || ix >= wd) continue;
      for (int c = 0; c < ci; c++) acc = fmaf(x[((n * h + iy) * wd + ix) * ci + c], w[((ky * 3 + kx) * ci + c) * co + o], acc);
    }
  }
  y[((n * h + py) * wd + px) * co + o] = fmaxf(acc, 0.f);
}

void conv_nhwc_relu(const float* x, const float* w, const float* b, float* y, int n, int h, int wd, int ci, int co) {
  conv_nhwc_relu_kernel<<<dim3(wd, h, n), (co + 31) / 32 * 32>>>(x, w, b, y, h, wd, ci, co, 1);
}
