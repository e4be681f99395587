__global__ void __launch_bounds__(128, 3)
attention_streaming_kernel(float* __restrict__ out, const float* __restrict__ inp, int B, int T, int C,
    int NH) {
    extern __shared__ float4 att_shared[];
    float* const qs = reinterpret_cast<float*>(att_shared); // [64 columns][queries]
    float* const ks = qs + 64 * ATT_STRIDE; // [64 columns][keys]
    float* const ps = ks + 64 * ATT_STRIDE; // [keys][queries]
    float* const vs = ps + ATT_KEYS * ATT_STRIDE; // [keys][64 columns]
    const float tiny = 7.888609052210118e-31f; // 2^-100, its inverse is finite

    // the queries with most keys first
    const int bid = (int)blockIdx.x;
    const int BH = B * NH;
    const int q0 = ((T - 1) / ATT_QUERIES - bid / BH) * ATT_QUERIES;
    const int b = bid % BH / NH;
    const int h = bid % NH;

    // which queries a warp gets changes from block to block: the first ones see fewer keys of the diagonal
    // tile
    const int w = (int)((threadIdx.x / 32 + (blockIdx.x * 2654435769u >> 30)) % 4);
    // lanes that differ in bit 0 share a key, those that differ in bits 1 to 3 a query
    const int lane = threadIdx.x % 32;
    const int tx = (lane >> 1) & 7;
    const int ty = (lane & 1) | ((lane >> 3) & 2);
    const int own = w * ATT_WARP + ty * ATT_ROWS; // the first of the thread's rows

    const size_t C3 = (size_t)C * 3;
    const float* query = inp + (size_t)b * T * C3 + (size_t)h * 64;
    const float* key = query + C;
    const float* value = key + C;
    const float* const q = qs + own;
    const float* const k = ks + tx * 4;
    const float* const v = vs + tx * 4;
    float* const p = ps + own;

    // o is the sum of exp(score - m) * value divided by n, l the sum of exp(score - m), n is l but not
    // below tiny:
    // a mean of values cannot overflow, as their sum could
    float m[ATT_ROWS], l[ATT_ROWS], n[ATT_ROWS], o[ATT_ROWS][8];
    #pragma unroll
    for (int i = 0; i < ATT_ROWS; i++) {
        m[i] = -10000.0f;
        l[i] = 0.0f;
        n[i] = tiny;
        #pragma unroll
        for (int c = 0; c < 8; c++) { o[i][c] = 0.0f; }
    }

    float4 reg[8];
    att_load(reg, query, C3, q0, T);
    att_store(qs, reg);
    att_load(reg, key, C3, 0, T);
    att_store(ks, reg);

    const int tiles = q0 / ATT_KEYS + 1;
    for (int kt = 0; kt < tiles; kt++) {
        // the warp's first query counted from the first key of the tile, never negative: all its queries see the
        // keys before seen_all, none sees those from seen on
        const int dw = q0 + w * ATT_WARP - kt * ATT_KEYS;
        const int seen_all = min(dw, ATT_KEYS);
        const int seen = min(dw + ATT_WARP, ATT_KEYS);

        __syncthreads(); // the keys are there, the values of the tile before are not needed any more
        att_copy<ATT_KEYS, ATT_V_STRIDE>(vs, value, C3, kt * ATT_KEYS, T);
        att_commit();
        float s[ATT_ROWS][8];
        if (seen > ATT_KEYS / 2) {
            att_scores<8>(s, q, k);
        } else {
            att_scores<4>(s, q, k);
        }
        if (kt + 1 < tiles) { att_load(reg, key, C3, (kt + 1) * ATT_KEYS, T); }

        if (seen_all < ATT_KEYS) {
            // autoregressive mask
            #pragma unroll
            for (int i = 0; i < ATT_ROWS; i++) {
                #pragma unroll
                for (int j = 0; j < 8; j++) {
                    s[i][j] = 4 * tx + att_key(j) > dw + ATT_ROWS * ty + i ? -INFINITY : s[i][j];
                }
            }
        }

        // find maxval, which is never below -10000; fmaxf passes over NaN
        float top[ATT_ROWS];
        #pragma unroll
        for (int i = 0; i < ATT_ROWS; i++) {
            top[i] = s[i][0];
            #pragma unroll
            for (int j = 1; j < 8; j++) { top[i] = fmaxf(top[i], s[i][j]); }
        }
        #pragma unroll
        for (int x = 2; x <= 8; x *= 2) {
            #pragma unroll
            for (int i = 0; i < ATT_ROWS; i++) {
                top[i] = fmaxf(top[i], __shfl_xor_sync(0xffffffffu, top[i], x));
            }
        }

        // calculate the exp and keep track of sum; 0.125 is 1 / sqrt(64)
        float alpha[ATT_ROWS], sum[ATT_ROWS];
        #pragma unroll
        for (int i = 0; i < ATT_ROWS; i++) {
            const float maxval = fmaxf(m[i], 0.125f * top[i]);
            alpha[i] = expf(m[i] - maxval);
            m[i] = maxval;
            sum[i] = 0.0f;
            #pragma unroll
            for (int j = 0; j < 8; j++) {
                s[i][j] = expf(fmaf(s[i][j], 0.125f, -maxval));
                sum[i] += s[i][j];
            }
        }
        #pragma unroll
        for (int x = 2; x <= 8; x *= 2) {
            #pragma unroll
            for (int i = 0; i < ATT_ROWS; i++) {
                sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], x);
            }
        }

        // normalize by the sum so far
        float inv[ATT_ROWS];
        #pragma unroll
        for (int i = 0; i < ATT_ROWS; i++) {
            l[i] = l[i] * alpha[i] + sum[i];
            const float norm = l[i] < tiny ? tiny : l[i]; // NaN stays
            inv[i] = 1.0f / norm;
            const float beta = (n[i] * alpha[i]) * inv[i];
            n[i] = norm;
            #pragma unroll
            for (int c = 0; c < 8; c++) { o[i][c] *= beta; }
        }
        #pragma unroll
        for (int j = 0; j < 8; j++) {
            *reinterpret_cast<float4*>(p + (4 * tx + att_key(j)) * ATT_STRIDE) =
                make_float4(s[0][j] * inv[0], s[1][j] * inv[1], s[2][j] * inv[2], s[3][j] * inv[3]);
        }

        att_wait();
        __syncthreads(); // the values and the weights are there, the keys are not needed any more
        if (kt + 1 < tiles) { att_store(ks, reg); }
        #pragma unroll 1
        for (int t2 = 0; t2 < seen_all; t2 += @KEYS@) {
            #pragma unroll
            for (int u = 0; u < @KEYS@; u++) {
                const float4 pf = *reinterpret_cast<const float4*>(p + (t2 + u) * ATT_STRIDE);
                const float4 va = *reinterpret_cast<const float4*>(v + (t2 + u) * ATT_V_STRIDE);
                const float4 vb = *reinterpret_cast<const float4*>(v + (t2 + u) * ATT_V_STRIDE + 32);
                att_add(o[0], pf.x, va, vb);
                att_add(o[1], pf.y, va, vb);
                att_add(o[2], pf.z, va, vb);
                att_add(o[3], pf.w, va, vb);
            }
        }
        // on the diagonal: values of masked keys must not be touched, 0 times infinity is NaN
        #pragma unroll 1
        for (int t2 = seen_all; t2 < seen; t2++) {
            const float4 pf = *reinterpret_cast<const float4*>(p + t2 * ATT_STRIDE);
            const float4 va = *reinterpret_cast<const float4*>(v + t2 * ATT_V_STRIDE);
            const float4 vb = *reinterpret_cast<const float4*>(v + t2 * ATT_V_STRIDE + 32);
            const int row = t2 - dw - ATT_ROWS * ty; // the first of the thread's rows that sees the key
            if (row <= 0) { att_add(o[0], pf.x, va, vb); }
            if (row <= 1) { att_add(o[1], pf.y, va, vb); }
            if (row <= 2) { att_add(o[2], pf.z, va, vb); }
            if (row <= 3) { att_add(o[3], pf.w, va, vb); }
        }
    }

    #pragma unroll
    for (int i = 0; i < ATT_ROWS; i++) {
        const int t = q0 + own + i;
        const float f = l[i] < tiny ? (l[i] == 0.0f ? 0.0f : 1.0f / l[i]) * tiny : 1.0f;
        if (t < T) {
            float* out_bth = out + ((size_t)b * T + t) * C + (size_t)h * 64 + tx * 4;
            *reinterpret_cast<float4*>(out_bth) =
                make_float4(o[i][0] * f, o[i][1] * f, o[i][2] * f, o[i][3] * f);
            *reinterpret_cast<float4*>(out_bth + 32) =
                make_float4(o[i][4] * f, o[i][5] * f, o[i][6] * f, o[i][7] * f);
        }
    }
}
