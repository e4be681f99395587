// A thread owns a channel of a position: its sum over the batch needs no atomics. Tokens may repeat, and do.
__global__ void encoder_backward_kernel(float* dwte, float* dwpe,
                                        const float* dout, const int* inp,
                                        int B, int T, int C) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int N = T * C;

    if (idx < N) {
        int t = idx / C;
        int c = idx % C;
        float sum = dwpe[idx];
        for (int b = 0; b < B; b++) {
            const float d = dout[b * N + idx];
            atomicAdd(dwte + inp[b * T + t] * C + c, d);
            sum += d;
        }
        dwpe[idx] = sum;
    }
}
