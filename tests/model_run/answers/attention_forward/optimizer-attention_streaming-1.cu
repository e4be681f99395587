void attention_forward(float* out, float* preatt, float* att, const float* inp, int B, int T, int C, int NH,
                       const int block_size) {
    // heads of 64 floats in rows that can be read 16 bytes at a time: no attention weights in memory
    const int hs = NH > 0 ? C / NH : 0;
    if (B > 0 && T > 0 && hs == 64 && C % 4 == 0 && ((size_t)inp | (size_t)out) % 16 == 0) {
        const size_t blocks = (size_t)B * NH * ((T - 1) / ATT_QUERIES + 1);
        if (blocks <= 2147483647) {
            cudaCheck(cudaFuncSetAttribute((const void*)attention_streaming_kernel,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, ATT_SHARED));
            attention_streaming_kernel<<<(unsigned)blocks, 128, ATT_SHARED>>>(out, inp, B, T, C, NH);
            cudaCheck(cudaGetLastError());
            return;
        }
    }
    int total_threads = B * NH * T * T;
    int num_blocks = ceil_div(total_threads, block_size);
    attention_query_key_kernel1<<<num_blocks, block_size>>>(preatt, inp, B, T, C, NH);
    total_threads = B * T * NH;
    num_blocks = ceil_div(total_threads, block_size);
    attention_softmax_kernel1<<<num_blocks, block_size>>>(att, preatt, B, T, NH);
    attention_value_kernel1<<<num_blocks, block_size>>>(out, att, inp, B, T, C, NH);
    cudaCheck(cudaGetLastError());
}