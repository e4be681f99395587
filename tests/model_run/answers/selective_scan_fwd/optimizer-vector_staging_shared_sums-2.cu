void selective_scan_fwd(const float* u, const float* delta, const float* A_log, const float* B, const float* C,
                        const float* D, const float* z, const float* delta_bias, float* y, int batch, int dim, int len,
                        cudaStream_t stream)
{
    if (batch <= 0 || batch > 65535 || dim <= 0 || len <= 0) return;
    dim3 block(kThreads);
    dim3 grid((dim + kChannels - 1) / kChannels, batch);
    const bool vec = len % 4 == 0 && ((size_t)u | (size_t)delta | (size_t)B | (size_t)C | (size_t)z | (size_t)y) % 16 == 0;
    if (vec) {
        selective_scan_kernel<true><<<grid, block, 0, stream>>>(u, delta, A_log, B, C, D, z, delta_bias, y, dim, len);
    } else {
        selective_scan_kernel<false><<<grid, block, 0, stream>>>(u, delta, A_log, B, C, D, z, delta_bias, y, dim, len);
    }
}
