// Squeeze-and-excitation: global average pool, two small dense layers, channel-wise scaling.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>

static __device__ float blockReduceSum(float v) {
    static __shared__ float shared[32];
    int lane = threadIdx.x % warpSize;
    int wid = threadIdx.x / warpSize;
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    if (lane == 0) shared[wid] = v;
    __syncthreads();
    v = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0.f;
    if (wid == 0)
        for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

template <bool VEC>
__global__ void squeeze(const __half* __restrict__ x, float* __restrict__ pooled, int hw) {
    const __half* p = x + (size_t)blockIdx.x * hw;
    float s = 0.f;
    if (VEC) {
        const __half2* p2 = reinterpret_cast<const __half2*>(p);
        for (int i = threadIdx.x; i < hw / 2; i += blockDim.x) {
            float2 f = __half22float2(p2[i]);
            s += f.x + f.y;
        }
    } else {
        for (int i = threadIdx.x; i < hw; i += blockDim.x) s += __half2float(p[i]);
    }
    s = blockReduceSum(s);
    if (threadIdx.x == 0) pooled[blockIdx.x] = s / hw;
}

// one block per image, hidden layer lives in shared memory
__global__ void excite(const float* __restrict__ pooled, const __half* __restrict__ w1, const __half* __restrict__ b1,
                       const __half* __restrict__ w2, const __half* __restrict__ b2, float* __restrict__ gate, int C, int R) {
    extern __shared__ float hidden[];
    const float* in = pooled + (size_t)blockIdx.x * C;
    for (int r = threadIdx.x; r < R; r += blockDim.x) {
        float s = __half2float(b1[r]);
        for (int c = 0; c < C; ++c) s += in[c] * __half2float(w1[r * C + c]);
        hidden[r] = s > 0.f ? s : 0.f;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        float s = __half2float(b2[c]);
        for (int r = 0; r < R; ++r) s += hidden[r] * __half2float(w2[c * R + r]);
        gate[(size_t)blockIdx.x * C + c] = 1.f / (1.f + __expf(-s));
    }
}

template <bool VEC>
__global__ void scale_channels(const __half* __restrict__ x, const float* __restrict__ gate, __half* __restrict__ out, int hw) {
    const float g = gate[blockIdx.x];
    const size_t off = (size_t)blockIdx.x * hw;
    if (VEC) {
        const __half2* a = reinterpret_cast<const __half2*>(x + off);
        __half2* o = reinterpret_cast<__half2*>(out + off);
        for (int i = threadIdx.x; i < hw / 2; i += blockDim.x) {
            float2 f = __half22float2(a[i]);
            o[i] = __floats2half2_rn(f.x * g, f.y * g);
        }
    } else {
        for (int i = threadIdx.x; i < hw; i += blockDim.x) out[off + i] = __float2half(__half2float(x[off + i]) * g);
    }
}

void squeeze_excite(const __half* x, const __half* w1, const __half* b1, const __half* w2, const __half* b2, float* pooled,
                    float* gate, __half* out, int N, int C, int R, int HW, cudaStream_t stream = nullptr) {
    const bool vec = HW % 2 == 0;
    if (vec)
        squeeze<true><<<N * C, 256, 0, stream>>>(x, pooled, HW);
    else
        squeeze<false><<<N * C, 256, 0, stream>>>(x, pooled, HW);
    excite<<<N, 128, R * sizeof(float), stream>>>(pooled, w1, b1, w2, b2, gate, C, R);
    if (vec)
        scale_channels<true><<<N * C, 256, 0, stream>>>(x, gate, out, HW);
    else
        scale_channels<false><<<N * C, 256, 0, stream>>>(x, gate, out, HW);
}
