void embedding_backward(cudaStream_t stream, float* dweight, const __nv_bfloat16* dout, const int* ids, int tokens,
                        int vocab, int dim) {
    if (vocab <= 0 || dim <= 0) return;
    const int even = vocab / trainkit::kEmbeddingBlocks + (vocab % trainkit::kEmbeddingBlocks != 0);
    const int share = even < trainkit::kEmbeddingThreads ? even : trainkit::kEmbeddingThreads;
    const int blocks = vocab / share + (vocab % share != 0);
    const bool packed = dim % 4 == 0 && (size_t)dweight % 16 == 0 && (size_t)dout % 8 == 0;
    if (packed) {
        trainkit::embedding_backward_kernel<__nv_bfloat16, 4>
            <<<blocks, trainkit::kEmbeddingThreads, 0, stream>>>(dweight, dout, ids, tokens, vocab, dim, share);
    } else {
        trainkit::embedding_backward_kernel<__nv_bfloat16, 1>
            <<<blocks, trainkit::kEmbeddingThreads, 0, stream>>>(dweight, dout, ids, tokens, vocab, dim, share);
    }
}