template <bool kVec>
__global__ void __launch_bounds__(kThreads)
normalize(const bf16* __restrict__ g, const float* __restrict__ sq, bf16* __restrict__ x, size_t items)
{
    const size_t i = (size_t)blockIdx.x * kThreads + threadIdx.x;
    if (i >= items) return;
    const float d = sqrtf(*sq) + 1e-7f;
    if constexpr (kVec) {
        float v[8];
        unpack(v, reinterpret_cast<const uint4*>(g)[i]);
#pragma unroll
        for (int k = 0; k < 8; ++k) v[k] = v[k] / d;
        reinterpret_cast<uint4*>(x)[i] = pack(v);
    } else {
        x[i] = __float2bfloat16(__bfloat162float(g[i]) / d);
    }
}
