#include "../include/gpu_util.h"

/* ---------------- shared by the UNet blocks ---------------- */
template <typename T>
__global__ void conv3x3_same(const T* in, const T* weight, const T* bias, T* out, int C, int H, int W, int CO) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int co = blockIdx.z % CO, b = blockIdx.z / CO;
  if (x >= W || y >= H) return;
  float acc = Cvt<T>::load(bias[co]);
  for (int c = 0; c < C; ++c) {
    const T* plane = in + (size_t(b) * C + c) * H * W;
    const T* k = weight + (size_t(co) * C + c) * 9;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const int yy = y + dy, xx = x + dx;
        const float v = (yy >= 0 && yy < H && xx >= 0 && xx < W) ? Cvt<T>::load(plane[yy * W + xx]) : 0.f;
        acc += v * Cvt<T>::load(k[(dy + 1) * 3 + dx + 1]);
      }
  }
  out[((size_t(b) * CO + co) * H + y) * W + x] = Cvt<T>::store(acc);
}

struct Silu { __device__ __forceinline__ float operator()(float v) const { return v / (1.f + __expf(-v)); } };

template <typename T, typename Act>
__global__ void groupnorm_act(const T* in, const float* gamma, const float* beta, T* out, int G, int CG, int HW, float eps, Act act) {
  const int g = blockIdx.x % G;
  const int n = CG * HW;
  const T* src = in + size_t(blockIdx.x) * n;
  T* dst = out + size_t(blockIdx.x) * n;
  float s = 0.f, s2 = 0.f;
  for (int i = threadIdx.x; i < n; i += 256) {
    const float v = Cvt<T>::load(src[i]);
    s += v;
    s2 += v * v;
  }
  const float mean = block_all<256>(s, AddOp()) / n;
  const float var = fmaxf(block_all<256>(s2, AddOp()) / n - mean * mean, 0.f);
  const float rstd = rsqrtf(var + eps);
  for (int i = threadIdx.x; i < n; i += 256) {
    const int c = g * CG + i / HW;
    dst[i] = Cvt<T>::store(act((Cvt<T>::load(src[i]) - mean) * rstd * gamma[c] + beta[c]));
  }
}

int resblock_gn_silu_conv(const __half* x, const float* gamma, const float* beta, const __half* weight, const __half* bias, __half* out,
                          __half* normed, int B, int G, int CG, int H, int W, int CO, float eps, cudaStream_t stream) {
  groupnorm_act<<<B * G, 256, 0, stream>>>(x, gamma, beta, normed, G, CG, H * W, eps, Silu());
  dim3 block(16, 16), grid(ceil_div_i(W, 16), ceil_div_i(H, 16), B * CO);
  conv3x3_same<__half><<<grid, block, 0, stream>>>(normed, weight, bias, out, G * CG, H, W, CO);
  return 0;
}

/* ---------------- decoder: bilinear x2 (align_corners = false), then conv ---------------- */
__global__ void upsample2x(const __nv_bfloat16* in, __nv_bfloat16* out, int planes, int H, int W) {
  const int OH = 2 * H, OW = 2 * W;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= planes * OH * OW) return;
  const int ox = i % OW, oy = (i / OW) % OH, p = i / (OW * OH);
  const float fy = fmaxf(0.5f * (oy + 0.5f) - 0.5f, 0.f), fx = fmaxf(0.5f * (ox + 0.5f) - 0.5f, 0.f);
  const int y0 = int(fy), x0 = int(fx);
  const int y1 = min(y0 + 1, H - 1), x1 = min(x0 + 1, W - 1);
  const float wy = fy - y0, wx = fx - x0;
  const __nv_bfloat16* s = in + size_t(p) * H * W;
  const float top = (1.f - wx) * __bfloat162float(s[y0 * W + x0]) + wx * __bfloat162float(s[y0 * W + x1]);
  const float bot = (1.f - wx) * __bfloat162float(s[y1 * W + x0]) + wx * __bfloat162float(s[y1 * W + x1]);
  out[i] = __float2bfloat16((1.f - wy) * top + wy * bot);
}

int decoder_up_conv(const __nv_bfloat16* x, const __nv_bfloat16* weight, const __nv_bfloat16* bias, __nv_bfloat16* big, __nv_bfloat16* out,
                    int B, int C, int H, int W, int CO, cudaStream_t stream) {
  const int n = B * C * 4 * H * W;
  upsample2x<<<ceil_div_i(n, 256), 256, 0, stream>>>(x, big, B * C, H, W);
  dim3 block(32, 4), grid(ceil_div_i(2 * W, 32), ceil_div_i(2 * H, 4), B * CO);
  conv3x3_same<__nv_bfloat16><<<grid, block, 0, stream>>>(big, weight, bias, out, C, 2 * H, 2 * W, CO);
  return 0;
}

/* ---------------- ViT stem: non-overlapping patches, linear, + position ---------------- */
__global__ void patch_embed_kernel(const float* img, const __half* w, const __half* bias, const __half* pos, __half* tokens, int C, int GH,
                                   int GW, int P, int E) {
  extern __shared__ float patch[];
  const int t = blockIdx.x, b = blockIdx.y;
  const int gy = t / GW, gx = t % GW;
  const int H = GH * P, W = GW * P, len = C * P * P;
  for (int i = threadIdx.x; i < len; i += blockDim.x) {
    const int c = i / (P * P), r = i / P % P, q = i % P;
    patch[i] = img[((size_t(b) * C + c) * H + gy * P + r) * W + gx * P + q];
  }
  __syncthreads();
  for (int e = threadIdx.x; e < E; e += blockDim.x) {
    float acc = __half2float(bias[e]) + __half2float(pos[size_t(t) * E + e]);
    for (int i = 0; i < len; ++i) acc += patch[i] * __half2float(w[size_t(e) * len + i]);
    tokens[(size_t(b) * GH * GW + t) * E + e] = __float2half(acc);
  }
}

int vit_patch_embed(const float* img, const __half* w, const __half* bias, const __half* pos, __half* tokens, int B, int C, int GH, int GW,
                    int P, int E, cudaStream_t stream) {
  patch_embed_kernel<<<dim3(GH * GW, B), 128, C * P * P * sizeof(float), stream>>>(img, w, bias, pos, tokens, C, GH, GW, P, E);
  return 0;
}

/* ---------------- squeeze and excite ---------------- */
__global__ void se_squeeze(const __half* x, float* pooled, int HW) {
  const __half* p = x + size_t(blockIdx.x) * HW;
  float s = 0.f;
  for (int i = threadIdx.x; i < HW; i += 128) s += __half2float(p[i]);
  s = block_all<128>(s, AddOp());
  if (threadIdx.x == 0) pooled[blockIdx.x] = s / HW;
}

__global__ void se_fc(const float* in, const float* w, const float* b, float* out, int rows, int I, int O, int sigmoid) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= rows * O) return;
  const int r = t / O, o = t % O;
  float a = b[o];
  for (int i = 0; i < I; ++i) a += w[o * I + i] * in[r * I + i];
  out[t] = sigmoid ? 1.f / (1.f + expf(-a)) : fmaxf(a, 0.f);
}

__global__ void se_scale(__half* x, const float* gate, int total, int HW) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x)
    x[i] = __float2half(__half2float(x[i]) * gate[i / HW]);
}

int se_gate_inplace(__half* x, const float* w1, const float* b1, const float* w2, const float* b2, float* pooled, float* hidden,
                    float* gate, int B, int C, int R, int H, int W, cudaStream_t stream) {
  se_squeeze<<<B * C, 128, 0, stream>>>(x, pooled, H * W);
  se_fc<<<ceil_div_i(B * R, 128), 128, 0, stream>>>(pooled, w1, b1, hidden, B, C, R, 0);
  se_fc<<<ceil_div_i(B * C, 128), 128, 0, stream>>>(hidden, w2, b2, gate, B, R, C, 1);
  const int total = B * C * H * W;
  se_scale<<<min(ceil_div_i(total, 256), 4096), 256, 0, stream>>>(x, gate, total, H * W);
  return 0;
}
