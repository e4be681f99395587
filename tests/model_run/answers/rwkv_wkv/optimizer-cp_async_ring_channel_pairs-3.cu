extern "C" void rwkv_wkv(const __nv_bfloat16* k, const __nv_bfloat16* v, const __nv_bfloat16* r, const float* decay,
                         const float* bonus, float* aa, float* bb, float* pp, __nv_bfloat16* y, int B, int T, int C)
{
    if (B <= 0 || C <= 0)
        return;
    const size_t total = (size_t)B * C;
    const unsigned blocks = (unsigned)((total + kLanes - 1) / kLanes);
    // 16 bytes are 8 channels: they must not cross a batch, nor a row begin between
    if (C % 8 == 0 && ((size_t)k | (size_t)v | (size_t)r | (size_t)y) % 16 == 0)
        wkv_kernel<true><<<blocks, kThreads>>>(k, v, r, decay, bonus, aa, bb, pp, y, B, T, C);
    else
        wkv_kernel<false><<<blocks, kThreads>>>(k, v, r, decay, bonus, aa, bb, pp, y, B, T, C);
}