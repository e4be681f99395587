cudaError_t topk_rows_bf16(const __nv_bfloat16* scores, __nv_bfloat16* top, int* top_idx, int rows, int cols, int k,
                           cudaStream_t stream)
{
    if (k < 1 || k > cols || cols > TOPK_COLS) return cudaErrorInvalidValue;
    const bool wide = (size_t)scores % 16 == 0 && cols % 8 == 0;
    const bool few = cols <= 8 * TOPK_THREADS * 4;
    const int resident = TOPK_SMS * (few ? TOPK_RESIDENT(4) : TOPK_RESIDENT(5));
    const int each = rows > resident ? (rows - 1) / resident + 1 : 1;
    const int blocks = rows > resident ? (rows - 1) / each + 1 : rows;
    if (wide && few)
        topk_rows_kernel<true, 4><<<blocks, TOPK_THREADS, 0, stream>>>(scores, top, top_idx, rows, cols, k);
    else if (wide)
        topk_rows_kernel<true, 5><<<blocks, TOPK_THREADS, 0, stream>>>(scores, top, top_idx, rows, cols, k);
    else if (few)
        topk_rows_kernel<false, 4><<<blocks, TOPK_THREADS, 0, stream>>>(scores, top, top_idx, rows, cols, k);
    else
        topk_rows_kernel<false, 5><<<blocks, TOPK_THREADS, 0, stream>>>(scores, top, top_idx, rows, cols, k);
    return cudaGetLastError();
}
