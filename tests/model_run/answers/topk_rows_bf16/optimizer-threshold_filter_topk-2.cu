cudaError_t topk_rows_bf16(const __nv_bfloat16* scores, __nv_bfloat16* top, int* top_idx, int rows, int cols, int k,
                           cudaStream_t stream)
{
    if (k < 1 || k > cols || cols > TOPK_COLS) return cudaErrorInvalidValue;
    if ((size_t)scores % 16 == 0 && cols % 8 == 0)
        topk_rows_kernel<true><<<rows, TOPK_THREADS, 0, stream>>>(scores, top, top_idx, cols, k);
    else
        topk_rows_kernel<false><<<rows, TOPK_THREADS, 0, stream>>>(scores, top, top_idx, cols, k);
    return cudaGetLastError();
}