void encoder_backward(float* dwte, float* dwpe, const float* dout, const int* inp, int B, int T, int C, int V) {
    const int N = T * C;
    const int block_size = 256;
    encoder_backward_kernel<<<ceil_div(N, block_size), block_size>>>(dwte, dwpe, dout, inp, B, T, C);
    cudaCheck(cudaGetLastError());
}
