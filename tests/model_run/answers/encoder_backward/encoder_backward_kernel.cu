// A thread owns a channel of a position: its sum over the batch needs no atomics. Tokens may repeat, and do. Four
// gradients are on their way at a time.
__global__ void encoder_backward_kernel(float* __restrict__ dwte, float* __restrict__ dwpe,
                                        const float* __restrict__ dout, const int* __restrict__ inp,
                                        int B, int T, int C) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int N = T * C;

    if (idx < N) {
        int t = idx / C;
        int c = idx % C;
        float sum = dwpe[idx];
        #pragma unroll 4
        for (int b = 0; b < B; b++) {
            const float d = dout[b * N + idx];
            atomicAdd(dwte + inp[b * T + t] * C + c, d);
            sum += d;
        }
        dwpe[idx] = sum;
    }
}
