void selective_scan_fwd(const float* u, const float* delta, const float* A_log, const float* B, const float* C,
                        const float* D, const float* z, const float* delta_bias, float* y, int batch, int dim, int len,
                        cudaStream_t stream)
{
    if (batch <= 0 || batch > 65535 || dim <= 0 || len <= 0) return;
    dim3 block(kThreads);
    dim3 grid((dim + kChannels - 1) / kChannels, batch);
    selective_scan_kernel<<<grid, block, 0, stream>>>(u, delta, A_log, B, C, D, z, delta_bias, y, dim, len);
}