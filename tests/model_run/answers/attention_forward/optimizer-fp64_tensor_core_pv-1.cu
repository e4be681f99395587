// c += a * b for 16 rows, 8 columns and 16 keys, in double: the weights and the values are exact in it
static __device__ __forceinline__ void att_mma(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};\n"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
          "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

// x of the warp's rows row and row + 8, row < 8; a lane has it for the rows ty + 4 * i
static __device__ __forceinline__ float2 att_rows(const float (&x)[ATT_ROWS], int row) {
    const int from = (row & 1) | ((row & 2) << 3); // a lane whose ty is row % 4
    const float x0 = __shfl_sync(0xffffffffu, x[0], from);
    const float x1 = __shfl_sync(0xffffffffu, x[1], from);
    const float x2 = __shfl_sync(0xffffffffu, x[2], from);
    const float x3 = __shfl_sync(0xffffffffu, x[3], from);
    return make_float2(row < 4 ? x0 : x1, row < 4 ? x2 : x3);
}

__global__ void __launch_bounds__(128, 3)
attention_streaming_kernel(float* __restrict__ out, const float* __restrict__ inp, int B, int T, int C,
    int NH) {
    extern __shared__ float4 att_shared[];
    float* const qs = reinterpret_cast<float*>(att_shared);
    float* const ks = qs + ATT_QUERIES * ATT_QK_STRIDE;
    float* const vs = ks + ATT_KEYS * ATT_QK_STRIDE;
    float* const ps = vs + ATT_KEYS * ATT_V_STRIDE;
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
    const int own = w * ATT_WARP + ty; // the first of the thread's rows in scores and softmax
    // in the product with the values a thread owns the warp's rows gr and gr + 8 and, of each half of the head,
    // columns 8 * gt to 8 * gt + 7
    const int gr = lane >> 2;
    const int gt = lane & 3;

    const size_t C3 = (size_t)C * 3;
    const float* query = inp + (size_t)b * T * C3 + (size_t)h * 64;
    const float* key = query + C;
    const float* value = key + C;
    const float* const q = qs + own * ATT_QK_STRIDE;
    const float* const k = ks + tx * ATT_QK_STRIDE;
    float* const p = ps + own * ATT_P_STRIDE;
    const float* const pr = ps + (w * ATT_WARP + gr) * ATT_P_STRIDE;

    // o is the sum of exp(score - m) * value divided by n, l the sum of exp(score - m), n is l but not
    // below tiny:
    // a mean of values cannot overflow, as their sum could.
    // o[g][e][c] is row gr + 8 * (c / 2), column 32 * g + 8 * gt + 4 * (c % 2) + e
    float m[ATT_ROWS], l[ATT_ROWS], n[ATT_ROWS];
    double o[2][4][4];
    #pragma unroll
    for (int i = 0; i < ATT_ROWS; i++) {
        m[i] = -10000.0f;
        l[i] = 0.0f;
        n[i] = tiny;
    }
    #pragma unroll
    for (int g = 0; g < 2; g++) {
        #pragma unroll
        for (int e = 0; e < 4; e++) {
            #pragma unroll
            for (int c = 0; c < 4; c++) { o[g][e][c] = 0.0; }
        }
    }

    att_copy<ATT_QUERIES, ATT_QK_STRIDE>(qs, query, C3, q0, T);
    att_copy<ATT_KEYS, ATT_QK_STRIDE>(ks, key, C3, 0, T);
    att_commit();
    att_copy<ATT_KEYS, ATT_V_STRIDE>(vs, value, C3, 0, T);
    att_commit();

    const int tiles = (min(q0 + ATT_QUERIES, T) - 1) / ATT_KEYS + 1;
    for (int kt = 0; kt < tiles; kt++) {
        const int next = (kt + 1) * ATT_KEYS;
        // the warp's first query counted from the first key of the tile: all its queries see the keys
        // before seen_all,
        // none sees those from seen on
        const int dw = q0 + w * ATT_WARP - kt * ATT_KEYS;
        const int seen_all = min(max(dw, 0), ATT_KEYS);
        const int seen = min(max(dw + ATT_WARP, 0), ATT_KEYS);

        att_wait();
        __syncthreads();
        float s[ATT_ROWS][8];
        if (seen > ATT_KEYS / 2) {
            att_scores<8>(s, q, k);
        } else if (seen > 0) {
            att_scores<4>(s, q, k);
        }
        __syncthreads();
        if (kt + 1 < tiles) { att_copy<ATT_KEYS, ATT_QK_STRIDE>(ks, key, C3, next, T); }
        att_commit();

        if (seen > 0) {
            #pragma unroll
            for (int i = 0; i < ATT_ROWS; i++) {
                #pragma unroll
                for (int j = 0; j < 8; j++) { s[i][j] *= 0.125f; } // 1 / sqrt(64)
            }
            if (seen_all < ATT_KEYS) {
                // autoregressive mask
                #pragma unroll
                for (int i = 0; i < ATT_ROWS; i++) {
                    #pragma unroll
                    for (int j = 0; j < 8; j++) {
                        s[i][j] = tx + 8 * j > dw + ty + 4 * i ? -INFINITY : s[i][j];
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

            // calculate the exp and keep track of sum
            float alpha[ATT_ROWS], sum[ATT_ROWS];
            #pragma unroll
            for (int i = 0; i < ATT_ROWS; i++) {
                const float maxval = fmaxf(m[i], top[i]);
                alpha[i] = expf(m[i] - maxval);
                m[i] = maxval;
                sum[i] = 0.0f;
                #pragma unroll
                for (int j = 0; j < 8; j++) {
                    s[i][j] = expf(s[i][j] - maxval);
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
            float beta[ATT_ROWS];
            #pragma unroll
            for (int i = 0; i < ATT_ROWS; i++) {
                l[i] = l[i] * alpha[i] + sum[i];
                const float norm = l[i] < tiny ? tiny : l[i]; // NaN stays
                const float inv = 1.0f / norm;
                beta[i] = (n[i] * alpha[i]) * inv;
                n[i] = norm;
                #pragma unroll
                for (int j = 0; j < 8; j++) { p[i * 4 * ATT_P_STRIDE + tx + 8 * j] = s[i][j] * inv; }
            }
            const float2 scale = att_rows(beta, gr);
            const double scale0 = (double)scale.x;
            const double scale1 = (double)scale.y;
            #pragma unroll
            for (int g = 0; g < 2; g++) {
                #pragma unroll
                for (int e = 0; e < 4; e++) {
                    o[g][e][0] *= scale0;
                    o[g][e][1] *= scale0;
                    o[g][e][2] *= scale1;
                    o[g][e][3] *= scale1;
                }
            }
        }
        __syncwarp(); // a warp reads only the weights that it wrote

        att_wait();
        __syncthreads();
        // keys that all rows of the warp see: element (i, gt) of the fragments is key 8 * (i / 2) + 2 * gt + i % 2
        #pragma unroll 1
        for (int t2 = 0; t2 < seen_all; t2 += 16) {
            double a[8];
            #pragma unroll
            for (int u = 0; u < 2; u++) {
                const float2 upper = *reinterpret_cast<const float2*>(pr + t2 + 8 * u + 2 * gt);
                const float2 lower = *reinterpret_cast<const float2*>(pr + 8 * ATT_P_STRIDE + t2 + 8 * u + 2 * gt);
                a[4 * u] = (double)upper.x;
                a[4 * u + 1] = (double)lower.x;
                a[4 * u + 2] = (double)upper.y;
                a[4 * u + 3] = (double)lower.y;
            }
            #pragma unroll
            for (int g = 0; g < 2; g++) {
                double bf[4][4];
                #pragma unroll
                for (int i = 0; i < 4; i++) {
                    const int row = t2 + 8 * (i >> 1) + 2 * gt + (i & 1);
                    const float4 vf = *reinterpret_cast<const float4*>(vs + row * ATT_V_STRIDE + 32 * g + 4 * gr);
                    bf[0][i] = (double)vf.x;
                    bf[1][i] = (double)vf.y;
                    bf[2][i] = (double)vf.z;
                    bf[3][i] = (double)vf.w;
                }
                #pragma unroll
                for (int e = 0; e < 4; e++) { att_mma(o[g][e], a, bf[e]); }
            }
        }
        // on the diagonal: values of masked keys must not be touched, 0 times infinity is NaN
        if (seen_all < seen) {
            float acc[2][2][8];
            #pragma unroll
            for (int r = 0; r < 2; r++) {
                #pragma unroll
                for (int g = 0; g < 2; g++) {
                    #pragma unroll
                    for (int c = 0; c < 8; c++) { acc[r][g][c] = 0.0f; }
                }
            }
            #pragma unroll 1
            for (int t2 = seen_all; t2 < seen; t2++) {
                #pragma unroll
                for (int g = 0; g < 2; g++) {
                    const float* row = vs + t2 * ATT_V_STRIDE + 32 * g + 8 * gt;
                    const float4 va = *reinterpret_cast<const float4*>(row);
                    const float4 vb = *reinterpret_cast<const float4*>(row + 4);
                    #pragma unroll
                    for (int r = 0; r < 2; r++) {
                        if (t2 <= dw + gr + 8 * r) { att_add(acc[r][g], pr[8 * r * ATT_P_STRIDE + t2], va, vb); }
                    }
                }
            }
            #pragma unroll
            for (int r = 0; r < 2; r++) {
                #pragma unroll
                for (int g = 0; g < 2; g++) {
                    #pragma unroll
                    for (int c = 0; c < 8; c++) { o[g][c % 4][2 * r + c / 4] += (double)acc[r][g][c]; }
                }
            }
        }
        __syncthreads();
        if (kt + 1 < tiles) { att_copy<ATT_KEYS, ATT_V_STRIDE>(vs, value, C3, next, T); }
        att_commit();
    }

    float f[ATT_ROWS];
    #pragma unroll
    for (int i = 0; i < ATT_ROWS; i++) {
        f[i] = l[i] < tiny ? (l[i] == 0.0f ? 0.0f : 1.0f / l[i]) * tiny : 1.0f;
    }
    const float2 last = att_rows(f, gr);
    #pragma unroll
    for (int r = 0; r < 2; r++) {
        const int t = q0 + w * ATT_WARP + gr + 8 * r;
        const double fr = (double)(r == 0 ? last.x : last.y);
        if (t < T) {
            float* to = out + ((size_t)b * T + t) * C + (size_t)h * 64 + 8 * gt;
            #pragma unroll
            for (int g = 0; g < 2; g++) {
                #pragma unroll
                for (int c = 0; c < 2; c++) {
                    *reinterpret_cast<float4*>(to + 32 * g + 4 * c) =
                        make_float4((float)(o[g][0][2 * r + c] * fr), (float)(o[g][1][2 * r + c] * fr),
                            (float)(o[g][2][2 * r + c] * fr), (float)(o[g][3][2 * r + c] * fr));
                }
            }
        }
    }
}
