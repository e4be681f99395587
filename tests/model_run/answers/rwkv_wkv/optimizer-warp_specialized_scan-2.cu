extern "C" void rwkv_wkv(const __nv_bfloat16* k, const __nv_bfloat16* v, const __nv_bfloat16* r, const float* decay,
                         const float* bonus, float* aa, float* bb, float* pp, __nv_bfloat16* y, int B, int T, int C)
{
    if (B <= 0 || C <= 0)
        return;
    const size_t total = (size_t)B * C;
    wkv_kernel<<<(unsigned)((total + kLanes - 1) / kLanes), kThreads>>>(k, v, r, decay, bonus, aa, bb, pp, y, B, T, C);
}