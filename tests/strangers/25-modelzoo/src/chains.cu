// Whole models of a few operations, each operation a kernel of its own.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

#include <stdexcept>
#include <string>

static void check(const char* what)
{
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(err));
}

// =================================================================================================
// gemm -> scale -> residual (with itself) -> clamp -> logsumexp over features -> x * mish(x)

__global__ void gemm_nt(const half* x, const half* w, const half* b, float* y, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += __half2float(x[(size_t)row * K + k]) * __half2float(w[(size_t)col * K + k]);
    y[(size_t)row * N + col] = sum + __half2float(b[col]);
}

__global__ void scale_residual_clamp(float* y, long long n, float scale, float lo, float hi)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = y[i] * scale;
    v = v + v;
    y[i] = fminf(fmaxf(v, lo), hi);
}

__global__ void logsumexp_rows(const float* y, float* lse, int N)
{
    __shared__ float buf[256];
    const float* row = y + (size_t)blockIdx.x * N;
    int tid = threadIdx.x;

    float m = -INFINITY;
    for (int i = tid; i < N; i += 256) m = fmaxf(m, row[i]);
    buf[tid] = m;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s) buf[tid] = fmaxf(buf[tid], buf[tid + s]);
        __syncthreads();
    }
    m = buf[0];
    __syncthreads();

    float sum = 0.0f;
    for (int i = tid; i < N; i += 256) sum += expf(row[i] - m);
    buf[tid] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s) buf[tid] += buf[tid + s];
        __syncthreads();
    }
    if (tid == 0) lse[blockIdx.x] = m + logf(buf[0]);
}

__global__ void self_mish(const float* lse, half* out, int M)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M) return;
    float v = lse[i];
    float softplus = v > 20.0f ? v : log1pf(expf(v));
    out[i] = __float2half(v * (v * tanhf(softplus)));
}

void gemm_scale_residual_clamp_lse_mish(const half* x, const half* w, const half* b, half* out, float* ws_y,
                                        float* ws_lse, int M, int N, int K, float scale, float lo, float hi)
{
    dim3 block(16, 16);
    dim3 grid((N + 15) / 16, (M + 15) / 16);
    gemm_nt<<<grid, block>>>(x, w, b, ws_y, M, N, K);
    check("gemm");
    long long n = (long long)M * N;
    scale_residual_clamp<<<(unsigned)((n + 255) / 256), 256>>>(ws_y, n, scale, lo, hi);
    check("clamp");
    logsumexp_rows<<<M, 256>>>(ws_y, ws_lse, N);
    check("logsumexp");
    self_mish<<<(M + 255) / 256, 256>>>(ws_lse, out, M);
    check("mish");
}

// =================================================================================================
// squeeze and excite: mean of each channel -> dense, relu -> dense, sigmoid -> scale the channels

__global__ void se_squeeze(const __nv_bfloat16* x, float* pooled, int spatial)
{
    __shared__ float buf[128];
    const __nv_bfloat16* plane = x + (size_t)blockIdx.x * spatial;
    float s = 0.f;
    for (int i = threadIdx.x; i < spatial; i += 128) s += __bfloat162float(plane[i]);
    buf[threadIdx.x] = s;
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
        if (threadIdx.x < d) buf[threadIdx.x] += buf[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) pooled[blockIdx.x] = buf[0] / (float)spatial;
}

__global__ void se_reduce(const float* pooled, const float* w1, const float* b1, float* mid, int channels, int reduced)
{
    const int n = blockIdx.x;
    for (int r = threadIdx.x; r < reduced; r += blockDim.x) {
        float s = b1[r];
        for (int c = 0; c < channels; c++) s += pooled[n * channels + c] * w1[r * channels + c];
        mid[n * reduced + r] = s > 0.f ? s : 0.f;
    }
}

__global__ void se_expand(const float* mid, const float* w2, const float* b2, float* gate, int channels, int reduced)
{
    const int n = blockIdx.x;
    for (int c = threadIdx.x; c < channels; c += blockDim.x) {
        float s = b2[c];
        for (int r = 0; r < reduced; r++) s += mid[n * reduced + r] * w2[c * reduced + r];
        gate[n * channels + c] = 1.f / (1.f + expf(-s));
    }
}

__global__ void se_excite(const __nv_bfloat16* x, const float* gate, __nv_bfloat16* y, long long total, int spatial)
{
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < total;
         i += (long long)gridDim.x * blockDim.x)
        y[i] = __float2bfloat16(__bfloat162float(x[i]) * gate[i / spatial]);
}

cudaError_t squeeze_excite_bf16(const __nv_bfloat16* x, const float* w1, const float* b1, const float* w2,
                                const float* b2, __nv_bfloat16* y, float* pooled, float* mid, float* gate, int batch,
                                int channels, int reduced, int spatial, cudaStream_t stream)
{
    se_squeeze<<<batch * channels, 128, 0, stream>>>(x, pooled, spatial);
    se_reduce<<<batch, 64, 0, stream>>>(pooled, w1, b1, mid, channels, reduced);
    se_expand<<<batch, 128, 0, stream>>>(mid, w2, b2, gate, channels, reduced);
    const long long total = (long long)batch * channels * spatial;
    long long blocks = (total + 255) / 256;
    if (blocks > 16384) blocks = 16384;
    se_excite<<<(int)blocks, 256, 0, stream>>>(x, gate, y, total, spatial);
    return cudaGetLastError();
}

// =================================================================================================
// conv3d -> softmax over channels -> max pool 2 -> max pool 2

__global__ void conv3d_valid(const half* x, const half* w, const half* b, float* y, int N, int IC, int OC, int D,
                             int H, int W, int K)
{
    const int OD = D - K + 1, OH = H - K + 1, OW = W - K + 1;
    long long id = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= (long long)N * OC * OD * OH * OW) return;
    int ox = id % OW;
    int oy = id / OW % OH;
    int oz = id / OW / OH % OD;
    int oc = id / OW / OH / OD % OC;
    int n = id / OW / OH / OD / OC;

    float acc = __half2float(b[oc]);
    for (int ic = 0; ic < IC; ++ic)
        for (int kz = 0; kz < K; ++kz)
            for (int ky = 0; ky < K; ++ky)
                for (int kx = 0; kx < K; ++kx) {
                    size_t xi = ((((size_t)n * IC + ic) * D + oz + kz) * H + oy + ky) * W + ox + kx;
                    size_t wi = ((((size_t)oc * IC + ic) * K + kz) * K + ky) * K + kx;
                    acc += __half2float(x[xi]) * __half2float(w[wi]);
                }
    y[id] = acc;
}

__global__ void softmax_channels(float* y, int N, int C, int spatial)
{
    long long id = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= (long long)N * spatial) return;
    float* p = y + (id / spatial) * C * spatial + id % spatial;
    float m = p[0];
    for (int c = 1; c < C; ++c) m = fmaxf(m, p[(size_t)c * spatial]);
    float sum = 0.0f;
    for (int c = 0; c < C; ++c) sum += expf(p[(size_t)c * spatial] - m);
    for (int c = 0; c < C; ++c) p[(size_t)c * spatial] = expf(p[(size_t)c * spatial] - m) / sum;
}

template <typename Out>
__device__ Out narrow(float v);
template <>
__device__ float narrow<float>(float v) { return v; }
template <>
__device__ half narrow<half>(float v) { return __float2half(v); }

// window 2, stride 2, no padding; what is left over at the end is dropped
template <typename Out>
__global__ void maxpool3d_2(const float* x, Out* y, int planes, int D, int H, int W)
{
    const int OD = D / 2, OH = H / 2, OW = W / 2;
    long long id = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= (long long)planes * OD * OH * OW) return;
    int ox = id % OW;
    int oy = id / OW % OH;
    int oz = id / OW / OH % OD;
    long long plane = id / OW / OH / OD;
    const float* p = x + ((plane * D + 2 * oz) * H + 2 * oy) * (long long)W + 2 * ox;
    float m = p[0];
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b)
            for (int c = 0; c < 2; ++c) m = fmaxf(m, p[((size_t)a * H + b) * W + c]);
    y[id] = narrow<Out>(m);
}

static unsigned blocks_for(long long n) { return (unsigned)((n + 255) / 256); }

void conv3d_softmax_maxpool_maxpool(const half* x, const half* w, const half* b, half* out, float* ws_conv,
                                    float* ws_pool, int N, int IC, int OC, int D, int H, int W, int K)
{
    const int d1 = D - K + 1, h1 = H - K + 1, w1 = W - K + 1;
    const int d2 = d1 / 2, h2 = h1 / 2, w2 = w1 / 2;
    const int d3 = d2 / 2, h3 = h2 / 2, w3 = w2 / 2;
    if (d3 <= 0 || h3 <= 0 || w3 <= 0) throw std::invalid_argument("volume too small for two pools");

    conv3d_valid<<<blocks_for((long long)N * OC * d1 * h1 * w1), 256>>>(x, w, b, ws_conv, N, IC, OC, D, H, W, K);
    check("conv3d");
    softmax_channels<<<blocks_for((long long)N * d1 * h1 * w1), 256>>>(ws_conv, N, OC, d1 * h1 * w1);
    check("softmax");
    maxpool3d_2<float><<<blocks_for((long long)N * OC * d2 * h2 * w2), 256>>>(ws_conv, ws_pool, N * OC, d1, h1, w1);
    check("first pool");
    maxpool3d_2<half><<<blocks_for((long long)N * OC * d3 * h3 * w3), 256>>>(ws_pool, out, N * OC, d2, h2, w2);
    check("second pool");
}
