__device__ __forceinline__ float2 weights(float x, float z)
{
    const float q = fmaxf(x, z);
    const float d = x - z;
    const float n = q - q;  // 0, or NaN where the maximum is infinite
    const float e = kBase2 ? exp2f(fmaf(-fabsf(d), 1.44269504f, n)) : expf(n - fabsf(d));
    return make_float2(d > 0.0f ? 1.0f : e, d > 0.0f ? e : 1.0f);
}

__device__ __forceinline__ float exp_of(float x)
{
    return kBase2 ? exp2f(1.44269504f * x) : expf(x);
}