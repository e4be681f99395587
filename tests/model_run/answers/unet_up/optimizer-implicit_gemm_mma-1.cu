// The weights as mma takes them: [OC / 48][chunk][tap][3][lane][8], 0 where an input or output channel does not exist. A chunk is 16
// channels of x or 16 channels of skip. A block writes the fragment of 16 output channels, one tap and one chunk.
__global__ void unet_up_pack_kernel(const __half* __restrict__ w, __half* __restrict__ ws, int C1, int C2, int OC) {
    int n1 = (C1 + 15) / 16, nch = n1 + (C2 + 15) / 16;
    int m = blockIdx.x % 3, tap = blockIdx.x / 3 % 9, slab = blockIdx.x / 27;
    int ck = slab % nch, ob = slab / nch;
    int lane = threadIdx.x >> 3, j = threadIdx.x & 7;
    int oc = ob * 48 + m * 16 + (lane >> 2) + 8 * ((j >> 1) & 1);
    int c = (ck < n1 ? ck : ck - n1) * 16 + 2 * (lane & 3) + (j & 1) + 8 * (j >> 2);
    bool valid = oc < OC && c < (ck < n1 ? C1 : C2);
    if (ck >= n1) c += C1;
    __half v = __float2half(0.f);
    if (valid) v = w[((size_t)oc * (C1 + C2) + c) * 9 + tap];
    ws[(size_t)blockIdx.x * 256 + threadIdx.x] = v;
}

// 16 channels of the input of a tile of 8 x 32 outputs: 6 x 18 pixels of x, or 10 x 34 of skip.
struct UnetUpChunk {
    const __half* src;  // of this image
    bool up;            // src is x
    int c0, C, H, W;    // the first channel; the sizes of src
    int h0, w0;         // the first pixel
    int pixels;         // 0: no chunk
};

__device__ __forceinline__ UnetUpChunk unet_up_chunk(const __half* xn, const __half* sn, int ck, int n1, int C1, int C2, int H, int W,
                                                     int oh0, int ow0) {
    UnetUpChunk k;
    k.up = ck < n1;
    k.src = k.up ? xn : sn;
    k.c0 = (k.up ? ck : ck - n1) * 16;
    k.C = k.up ? C1 : C2;
    k.H = k.up ? H : 2 * H;
    k.W = k.up ? W : 2 * W;
    k.h0 = (k.up ? oh0 / 2 : oh0) - 1;
    k.w0 = (k.up ? ow0 / 2 : ow0) - 1;
    k.pixels = k.up ? 6 * 18 : 10 * 34;
    return k;
}

// Unit u of a chunk: 8 channels of one pixel, 0 outside the image and for channels that do not exist.
__device__ __forceinline__ void unet_up_fetch(unsigned short (&r)[8], const UnetUpChunk& k, int u) {
#pragma unroll
    for (int j = 0; j < 8; ++j) r[j] = 0;
    if (u < 2 * k.pixels) {
        int plane = u >= k.pixels ? 1 : 0, px = u - plane * k.pixels;
        int row = k.up ? px / 18 : px / 34, col = px - row * (k.up ? 18 : 34);
        int c = k.c0 + plane * 8, h = k.h0 + row, v = k.w0 + col;
        if (h >= 0 && h < k.H && v >= 0 && v < k.W) {
            size_t step = (size_t)k.H * k.W;
            const unsigned short* p = (const unsigned short*)k.src + c * step + (size_t)h * k.W + v;
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                if (c + j < k.C) r[j] = p[j * step];
            }
        }
    }
}

__device__ __forceinline__ void unet_up_stage(unsigned char* in, const unsigned short (&r)[8], const UnetUpChunk& k, int u) {
    if (u < 2 * k.pixels) {
        *(uint4*)(in + u * 16) = make_uint4(r[0] | (unsigned)r[1] << 16, r[2] | (unsigned)r[3] << 16,
                                            r[4] | (unsigned)r[5] << 16, r[6] | (unsigned)r[7] << 16);
    }
}

// The weights of a chunk, 27 fragments of 512 bytes, to shared memory.
__device__ __forceinline__ void unet_up_copy(unsigned char* wt, const unsigned char* slab, int tid) {
    for (int i = tid; i < 864; i += 128) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :: "r"((unsigned)__cvta_generic_to_shared(wt + i * 16)), "l"(slab + i * 16) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ __forceinline__ void unet_up_mma(float (&c)[4], const uint4& a, const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ __half unet_up_silu(float acc) { return __float2half(acc / (1.f + expf(-acc))); }

// A block computes 48 channels of 8 x 32 outputs, a warp all rows of 8 columns. Shared memory: twice the input of a chunk as
// [2][pixel][8 channels] (10880 bytes), twice its weights (13824 bytes); at the end the sums.
__global__ void __launch_bounds__(128, 2) unet_up_kernel(const __half* __restrict__ x, const __half* __restrict__ skip,
                                                         const __half* __restrict__ ws, const __half* __restrict__ b,
                                                         __half* __restrict__ y, int C1, int C2, int H, int W, int OC) {
    extern __shared__ __align__(16) unsigned char unet_up_smem[];
    int H2 = 2 * H, W2 = 2 * W;
    int n1 = (C1 + 15) / 16, nch = n1 + (C2 + 15) / 16;
    int tid = threadIdx.x, lane = tid & 31, wx = tid >> 5, g = lane >> 2, t = lane & 3;

    unsigned tw = (W2 + 31) / 32, th = (H2 + 7) / 8, obs = (OC + 47) / 48, rest = blockIdx.x;
    int ow0 = rest % tw * 32;
    rest /= tw;
    int oh0 = rest % th * 8;
    rest /= th;
    int ob = rest % obs, n = rest / obs;

    const __half* xn = x + (size_t)n * C1 * H * W;
    const __half* sn = skip + (size_t)n * C2 * H2 * W2;
    const unsigned char* slab = (const unsigned char*)ws + (size_t)ob * nch * 13824;

    // acc[m][r]: channels m * 16 + g (0, 1) and + 8 (2, 3), row r, columns wx * 8 + 2 * t (0, 2) and + 1 (1, 3)
    float acc[3][8][4];
#pragma unroll
    for (int m = 0; m < 3; ++m) {
        int oc = ob * 48 + m * 16 + g;
        float lo = oc < OC ? ld(b + oc) : 0.f, hi = oc + 8 < OC ? ld(b + oc + 8) : 0.f;
#pragma unroll
        for (int r = 0; r < 8; ++r) {
            acc[m][r][0] = acc[m][r][1] = lo;
            acc[m][r][2] = acc[m][r][3] = hi;
        }
    }

    // Taps outside the image are left out, not multiplied by 0, since a weight may be infinite.
    bool top = oh0 == 0;
    int bottom = H2 - 1 - oh0;  // odd: the row whose last taps are outside
    bool left = ow0 + wx * 8 + 2 * t == 0, right = ow0 + wx * 8 + 2 * t + 2 == W2;

    if (nch > 0) {
        UnetUpChunk first = unet_up_chunk(xn, sn, 0, n1, C1, C2, H, W, oh0, ow0);
        unet_up_copy(unet_up_smem + 21760, slab, tid);
#pragma unroll 1
        for (int u = tid; u < 768; u += 256) {
            unsigned short r0[8], r1[8];
            unet_up_fetch(r0, first, u);
            unet_up_fetch(r1, first, u + 128);
            unet_up_stage(unet_up_smem, r0, first, u);
            unet_up_stage(unet_up_smem, r1, first, u + 128);
        }
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
    }

#pragma unroll 1
    for (int ck = 0; ck < nch; ++ck) {
        int s = ck & 1, up = ck < n1 ? 1 : 0;
        unsigned char* in = unet_up_smem + (s ^ 1) * 10880;
        const uint4* wt = (const uint4*)(unet_up_smem + 21760 + s * 13824) + lane;
        UnetUpChunk next = unet_up_chunk(xn, sn, ck + 1, n1, C1, C2, H, W, oh0, ow0);
        if (ck + 1 < nch) {
            unet_up_copy(unet_up_smem + 21760 + (s ^ 1) * 13824, slab + (size_t)(ck + 1) * 13824, tid);
        } else {
            next.pixels = 0;
        }

        // What this lane names to ldmatrix: column lane & 7 of the warp, 8 channels, row lane >> 4 of each pair of rows.
        unsigned pair = (unsigned)__cvta_generic_to_shared(unet_up_smem) + s * 10880 +
                        ((lane >> 3 & 1) * (up ? 108 : 340) + (lane >> 4) * (up ? 18 : 34)) * 16;
        unsigned pitch = up ? 18 * 16 : 2 * 34 * 16;

#pragma unroll
        for (int kw = 0; kw < 3; ++kw) {
            unsigned short r0[8], r1[8];
            unet_up_fetch(r0, next, tid + 256 * kw);
            unet_up_fetch(r1, next, tid + 256 * kw + 128);

            uint4 a[3][3];
#pragma unroll
            for (int kh = 0; kh < 3; ++kh) {
#pragma unroll
                for (int m = 0; m < 3; ++m) a[kh][m] = wt[((kh * 3 + kw) * 3 + m) * 32];
            }
            unsigned in_row[10][2];
            unsigned at = pair + ((wx * 8 + (lane & 7) + kw + up) >> up) * 16;
#pragma unroll
            for (int p = 0; p < 5; ++p) {
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(in_row[2 * p][0]), "=r"(in_row[2 * p][1]), "=r"(in_row[2 * p + 1][0]), "=r"(in_row[2 * p + 1][1])
                             : "r"(at + p * pitch) : "memory");
            }

            const int e = kw == 0 ? 0 : 1;  // the column at the edge is the left one of a lane, or its right one
            bool edge = kw == 0 ? left : right;
#pragma unroll
            for (int rp = 0; rp < 8; rp += 2) {
                float old[2][3][2];
#pragma unroll
                for (int rr = 0; rr < 2; ++rr) {
#pragma unroll
                    for (int m = 0; m < 3; ++m) {
                        old[rr][m][0] = acc[m][rp + rr][e];
                        old[rr][m][1] = acc[m][rp + rr][e + 2];
                    }
                }
#pragma unroll
                for (int kh = 0; kh < 3; ++kh) {
#pragma unroll
                    for (int rr = 0; rr < 2; ++rr) {
                        bool outside = (kh == 0 && rp + rr == 0 && top) || (kh == 2 && rr == 1 && rp + 1 == bottom);
                        if (!outside) {
#pragma unroll
                            for (int m = 0; m < 3; ++m) unet_up_mma(acc[m][rp + rr], a[kh][m], in_row[rp + rr + kh]);
                        }
                    }
                }
                if (kw != 1) {
#pragma unroll
                    for (int rr = 0; rr < 2; ++rr) {
#pragma unroll
                        for (int m = 0; m < 3; ++m) {
                            acc[m][rp + rr][e] = edge ? old[rr][m][0] : acc[m][rp + rr][e];
                            acc[m][rp + rr][e + 2] = edge ? old[rr][m][1] : acc[m][rp + rr][e + 2];
                        }
                    }
                }
            }

            unet_up_stage(in, r0, next, tid + 256 * kw);
            unet_up_stage(in, r1, next, tid + 256 * kw + 128);
        }
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
    }

    // The sums as [channel][row][32 columns], the columns exchanged in groups of 8 so that all banks are used.
    float* sums = (float*)unet_up_smem;
#pragma unroll
    for (int m = 0; m < 3; ++m) {
#pragma unroll
        for (int r = 0; r < 8; ++r) {
            int at = ((m * 16 + g) * 8 + r) * 32 + ((wx * 8 + 2 * t) ^ ((g & 3) * 8));
            *(float2*)(sums + at) = make_float2(acc[m][r][0], acc[m][r][1]);
            *(float2*)(sums + at + 8 * 8 * 32) = make_float2(acc[m][r][2], acc[m][r][3]);
        }
    }
    __syncthreads();

    bool col = ow0 + lane < W2, row0 = col && oh0 + wx < H2, row4 = col && oh0 + wx + 4 < H2;
    int channels = min(48, OC - ob * 48);
    __half* to = y + ((((size_t)n * OC + ob * 48) * H2 + oh0 + wx) * W2 + ow0 + lane);
#pragma unroll 4
    for (int oc = 0; oc < channels; ++oc) {
        const float* sum = sums + (oc * 8 + wx) * 32 + (lane ^ ((oc & 3) * 8));
        if (row0) to[0] = unet_up_silu(sum[0]);
        if (row4) to[(size_t)4 * W2] = unet_up_silu(sum[4 * 32]);
        to += (size_t)H2 * W2;
    }
}