void newton_schulz_bf16(const bf16* g, bf16* out, bf16* x_ws, bf16* a_ws, bf16* b_ws, float* norm_ws, int M, int N,
                        int steps, cudaStream_t stream)
{
    if (M <= 0 || N < M || steps < 0) return;
    const float a = 3.4445f, b = -4.7750f, c = 2.0315f;
    const size_t n = (size_t)M * N;
    const bool vec = M % 8 == 0 && N % 8 == 0 &&
                     ((size_t)g | (size_t)out | (size_t)x_ws | (size_t)a_ws | (size_t)b_ws) % 16 == 0;
    cudaMemsetAsync(norm_ws, 0, sizeof(float), stream);
    const size_t items = vec ? n / 8 : n;
    const size_t want = (items + kThreads - 1) / kThreads;
    const unsigned sum_blocks = (unsigned)(want < 528 ? want : 528);
    bf16* x = steps % 2 == 0 ? out : x_ws;
    bf16* y = steps % 2 == 0 ? x_ws : out;
    const size_t st = ((size_t)M + 63) / 64;
    const unsigned syrk_blocks = (unsigned)(st * (st + 1) / 2);
    const unsigned gemm_blocks = (unsigned)(((size_t)M + 127) / 128 * (((size_t)N + 255) / 256));
    if (vec) {
        sum_of_squares<true><<<sum_blocks, kThreads, 0, stream>>>(g, norm_ws, items);
        normalize<true><<<(unsigned)want, kThreads, 0, stream>>>(g, norm_ws, x, items);
        cudaFuncSetAttribute(syrk<true, false>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSyrkBytes);
        cudaFuncSetAttribute(syrk<true, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSyrkBytes);
        cudaFuncSetAttribute(gemm_axpby<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, kGemmBytes);
    } else {
        sum_of_squares<false><<<sum_blocks, kThreads, 0, stream>>>(g, norm_ws, items);
        normalize<false><<<(unsigned)want, kThreads, 0, stream>>>(g, norm_ws, x, items);
        cudaFuncSetAttribute(syrk<false, false>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSyrkBytes);
        cudaFuncSetAttribute(syrk<false, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSyrkBytes);
        cudaFuncSetAttribute(gemm_axpby<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, kGemmBytes);
    }
    for (int s = 0; s < steps; ++s) {
        if (vec) {
            syrk<true, false><<<syrk_blocks, kThreads, kSyrkBytes, stream>>>(x, nullptr, a_ws, M, N, 0.f, 1.f);
            syrk<true, true><<<syrk_blocks, kThreads, kSyrkBytes, stream>>>(a_ws, a_ws, b_ws, M, M, b, c);
            gemm_axpby<true><<<gemm_blocks, kThreads, kGemmBytes, stream>>>(b_ws, x, x, y, M, N, M, a, 1.f);
        } else {
            syrk<false, false><<<syrk_blocks, kThreads, kSyrkBytes, stream>>>(x, nullptr, a_ws, M, N, 0.f, 1.f);
            syrk<false, true><<<syrk_blocks, kThreads, kSyrkBytes, stream>>>(a_ws, a_ws, b_ws, M, M, b, c);
            gemm_axpby<false><<<gemm_blocks, kThreads, kGemmBytes, stream>>>(b_ws, x, x, y, M, N, M, a, 1.f);
        }
        bf16* t = x;
        x = y;
        y = t;
    }
}
