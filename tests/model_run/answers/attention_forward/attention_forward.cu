// All of it for BQ queries of one head, over tiles of 32 keys: scores by TQ x 2 a thread, softmax with a running
// maximum and sum, output by TQ x HD/16 a thread. 16 threads for each group of TQ queries.
template <int BQ, int HD>
__global__ void __launch_bounds__(BQ * 4) attention_fused_kernel(float* __restrict__ out, const float* __restrict__ inp,
                                                                 int T, int C, int NH, float scale) {
    constexpr int BK = 32, TQ = 4, THREADS = BQ * 4, TD = HD / 16;
    __shared__ float qs[HD][BQ + 1], ks[HD][BK + 1], vs[BK][HD], ps[BQ][BK + 1];
    const int hs = C / NH, C3 = C * 3;
    const int h = blockIdx.x % NH, b = blockIdx.x / NH;
    const int t0 = (gridDim.y - 1 - blockIdx.y) * BQ; // the longest rows first
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const float* base = inp + (size_t)b * T * C3 + h * hs;

    for (int e = threadIdx.x; e < BQ * HD; e += THREADS) {
        const int q = e / HD, i = e % HD;
        qs[i][q] = (t0 + q < T && i < hs) ? base[(size_t)(t0 + q) * C3 + i] : 0.0f;
    }
    float m[TQ], l[TQ], o[TQ][TD];
    #pragma unroll
    for (int r = 0; r < TQ; r++) {
        m[r] = -10000.0f;
        l[r] = 0.0f;
        #pragma unroll
        for (int d = 0; d < TD; d++) { o[r][d] = 0.0f; }
    }
    const int last = min(t0 + BQ, T);
    for (int k0 = 0; k0 < last; k0 += BK) {
        __syncthreads(); // the tiles before are used up
        for (int e = threadIdx.x; e < BK * HD; e += THREADS) {
            const int k = e / HD, i = e % HD;
            const bool valid = k0 + k < T && i < hs;
            const float* row = base + (size_t)(k0 + k) * C3 + C + i;
            ks[i][k] = valid ? row[0] : 0.0f;
            vs[k][i] = valid ? row[C] : 0.0f;
        }
        __syncthreads();
        float s[TQ][2] = {};
        for (int i = 0; i < hs; i++) {
            const float a = ks[i][tx], c = ks[i][tx + 16];
            #pragma unroll
            for (int r = 0; r < TQ; r++) {
                const float q = qs[i][ty * TQ + r];
                s[r][0] += q * a;
                s[r][1] += q * c;
            }
        }
        #pragma unroll
        for (int r = 0; r < TQ; r++) {
            const int t = t0 + ty * TQ + r;
            const bool first = k0 + tx <= t, second = k0 + tx + 16 <= t;
            s[r][0] *= scale;
            s[r][1] *= scale;
            float top = m[r];
            if (first) top = fmaxf(top, s[r][0]);
            if (second) top = fmaxf(top, s[r][1]);
            for (int offset = 8; offset > 0; offset /= 2) { top = fmaxf(top, __shfl_xor_sync(0xFFFFFFFF, top, offset, 16)); }
            const float p0 = first ? expf(s[r][0] - top) : 0.0f, p1 = second ? expf(s[r][1] - top) : 0.0f;
            float sum = p0 + p1;
            for (int offset = 8; offset > 0; offset /= 2) { sum += __shfl_xor_sync(0xFFFFFFFF, sum, offset, 16); }
            const float keep = expf(m[r] - top);
            m[r] = top;
            l[r] = l[r] * keep + sum;
            #pragma unroll
            for (int d = 0; d < TD; d++) { o[r][d] *= keep; }
            ps[ty * TQ + r][tx] = p0;
            ps[ty * TQ + r][tx + 16] = p1;
        }
        __syncwarp(); // a half warp reads only what it wrote
        // Masked values are not multiplied: they may be infinite.
        const int whole = min(BK, t0 + ty * TQ - k0 + 1); // keys that all TQ queries see
        for (int k = 0; k < whole; k++) {
            #pragma unroll
            for (int d = 0; d < TD; d++) {
                const float v = vs[k][tx + d * 16];
                #pragma unroll
                for (int r = 0; r < TQ; r++) { o[r][d] += ps[ty * TQ + r][k] * v; }
            }
        }
        for (int k = max(whole, 0); k < min(BK, t0 + ty * TQ + TQ - k0); k++) {
            for (int d = 0; d < TD; d++) {
                const float v = vs[k][tx + d * 16];
                #pragma unroll
                for (int r = 0; r < TQ; r++) {
                    if (k0 + k <= t0 + ty * TQ + r) { o[r][d] += ps[ty * TQ + r][k] * v; }
                }
            }
        }
    }
    #pragma unroll
    for (int r = 0; r < TQ; r++) {
        const int t = t0 + ty * TQ + r;
        const float inv = l[r] == 0.0f ? 0.0f : 1.0f / l[r];
        #pragma unroll
        for (int d = 0; d < TD; d++) {
            if (t < T && tx + d * 16 < hs) { out[((size_t)b * T + t) * C + h * hs + tx + d * 16] = o[r][d] * inv; }
        }
    }
}

template <int BQ, int HD>
static void attention_fused(float* out, const float* inp, int B, int T, int C, int NH) {
    const float scale = 1.0 / sqrtf(C / NH);
    attention_fused_kernel<BQ, HD><<<dim3(B * NH, ceil_div(T, BQ)), BQ * 4>>>(out, inp, T, C, NH, scale);
}

// inp is (B, T, 3C) holding the query, key, value; preatt and att are (B, NH, T, T), and are used for large heads only
void attention_forward(float* out, float* preatt, float* att, const float* inp, int B, int T, int C, int NH,
                       const int block_size) {
    const int hs = C / NH;
    if (hs <= 64) {
        const bool fills = ceil_div(T, 64) * B * NH >= 132;
        if (hs <= 32) {
            if (fills) { attention_fused<64, 32>(out, inp, B, T, C, NH); }
            else { attention_fused<16, 32>(out, inp, B, T, C, NH); }
        } else {
            if (fills) { attention_fused<64, 64>(out, inp, B, T, C, NH); }
            else { attention_fused<16, 64>(out, inp, B, T, C, NH); }
        }
        cudaCheck(cudaGetLastError());
        return;
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
