// Tensor cores for eight input and sixteen output channels a group and a kernel of 3 x 5 x 7. The channels of one tap
// are eight rows of the inner dimension: two taps make a fragment of k = 16, the last one of a row a fragment of k = 8.
constexpr int kBoxThreads = 256;
constexpr int kBoxTaps = 3 * 5 * 7;
constexpr int kBoxTapBytes = 32 * 8 + 8;                            // a tap of the weights, two registers a lane
constexpr int kBoxPlanes = 6, kBoxRows = 8, kBoxColumns = 70;       // what 4 x 4 x 64 results read of x
constexpr int kBoxPlane = kBoxRows * kBoxColumns;
constexpr int kBoxPositions = kBoxPlanes * kBoxPlane;               // 16 bytes each: eight channels
constexpr int kBoxXAt = 27776;                                      // the weights before it, 105 * 264 bytes
constexpr int kBoxBytes = kBoxXAt + kBoxPositions * 16;

__device__ __forceinline__ unsigned conv3d_box_pack(__half lo, __half hi) {
    return (unsigned)__half_as_ushort(lo) | (unsigned)__half_as_ushort(hi) << 16;
}

__device__ __forceinline__ void conv3d_box_load(unsigned (&r)[4], unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

__device__ __forceinline__ void conv3d_box_mma16(float (&d)[4], const uint2& lo, const uint2& hi, unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(lo.x), "r"(lo.y), "r"(hi.x), "r"(hi.y), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void conv3d_box_mma8(float (&d)[4], const uint2& a, unsigned b0) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a.x), "r"(a.y), "r"(b0));
}

// A block keeps the weights of one group and walks over tiles of 4 od x 4 oh x 64 ow. A warp has one od and 32 ow.
// PAIR: OW is even and y lies at a multiple of 4 bytes, so that two neighbours are stored at once.
template <bool PAIR>
__global__ void __launch_bounds__(kBoxThreads, 2)
conv3d_box_mma_kernel(const __half* __restrict__ x, const __half* __restrict__ w, __half* __restrict__ y,
                      int N, int G, int D, int H, int W, int tiles) {
    extern __shared__ __align__(16) unsigned char conv3d_box_shared[];
    const int OD = D - 2, OH = H - 4, OW = W - 6;
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int g = (int)blockIdx.x % G;

    // Lane l holds filters l / 4 and l / 4 + 8, channels 2 * (l % 4) and the next one, of each tap.
    const __half* wg = w + (size_t)g * (16 * 8 * kBoxTaps);
    for (int i = tid; i < 32 * kBoxTaps; i += kBoxThreads) {
        const int l = i / kBoxTaps, t = i - l * kBoxTaps;
        const __half* from = wg + ((l >> 2) * 8 + (l & 3) * 2) * kBoxTaps + t;
        uint2 v;
        v.x = conv3d_box_pack(from[0], from[kBoxTaps]);
        v.y = conv3d_box_pack(from[64 * kBoxTaps], from[65 * kBoxTaps]);
        *reinterpret_cast<uint2*>(conv3d_box_shared + t * kBoxTapBytes + l * 8) = v;
    }

    uint4* xs = reinterpret_cast<uint4*>(conv3d_box_shared + kBoxXAt);
    const int wb = (warp & 1) * 32, z = warp >> 1;
    const int m = lane >> 3, r = lane & 7;
    const unsigned xat = (unsigned)__cvta_generic_to_shared(xs);
    // Taps e and e + 1 of two tiles of eight columns, or tap 6 of four tiles.
    const unsigned base16 = xat + (z * kBoxPlane + wb + 8 * (m >> 1) + (m & 1) + r) * 16;
    const unsigned base8 = xat + (z * kBoxPlane + wb + 8 * m + r + 6) * 16;

    const size_t volume = (size_t)D * H * W;
    const int tw = CEIL_DIV(OW, 64), th = CEIL_DIV(OH, 4);
    const int first = (int)blockIdx.x / G, step = (int)gridDim.x / G;
    const int count = (tiles - first + step - 1) / step;
    // Half of the blocks go backwards: two blocks of a multiprocessor then do not load at the same time.
    const bool backwards = 2 * blockIdx.x >= gridDim.x;
    for (int i = 0; i < count; i++) {
        int rest = first + (backwards ? count - 1 - i : i) * step;
        const int ow0 = rest % tw * 64;
        rest /= tw;
        const int oh0 = rest % th * 4;
        rest /= th;
        const int n = rest % N, od0 = rest / N * 4;

        __syncthreads();
        const __half* xg = x + ((size_t)n * G + g) * 8 * volume;
#pragma unroll @UNROLL@
        for (int p = tid; p < kBoxPositions; p += kBoxThreads) {
            const int col = p % kBoxColumns, row = p / kBoxColumns % kBoxRows, plane = p / kBoxPlane;
            const int d = od0 + plane, h = oh0 + row, wi = ow0 + col;
            // Beyond x the last element is read instead, and masked: no branch keeps the loads apart.
            const unsigned mask = d < D && h < H && wi < W ? 0xffffffffu : 0u;
            const __half* from = xg + ((size_t)min(d, D - 1) * H + min(h, H - 1)) * W + min(wi, W - 1);
            uint4 v;
            v.x = conv3d_box_pack(from[0], from[volume]) & mask;
            v.y = conv3d_box_pack(from[2 * volume], from[3 * volume]) & mask;
            v.z = conv3d_box_pack(from[4 * volume], from[5 * volume]) & mask;
            v.w = conv3d_box_pack(from[6 * volume], from[7 * volume]) & mask;
            xs[p] = v;
        }
        __syncthreads();

        const int od = od0 + z;
        if (od < OD && ow0 + wb < OW) {
            float acc[4][4][4] = {};
            unsigned at16 = base16, at8 = base8;
            const unsigned char* wa = conv3d_box_shared + lane * 8;
#pragma unroll 1
            for (int a = 0; a < 3; a++) {
#pragma unroll
                for (int e = 0; e < 6; e += 2) {
                    uint2 lo[5], hi[5];
#pragma unroll
                    for (int b = 0; b < 5; b++) {
                        lo[b] = *reinterpret_cast<const uint2*>(wa + (b * 7 + e) * kBoxTapBytes);
                        hi[b] = *reinterpret_cast<const uint2*>(wa + (b * 7 + e + 1) * kBoxTapBytes);
                    }
#pragma unroll
                    for (int ih = 0; ih < 8; ih++) {
                        unsigned p[4], q[4];
                        conv3d_box_load(p, at16 + (ih * kBoxColumns + e) * 16);
                        conv3d_box_load(q, at16 + (ih * kBoxColumns + e) * 16 + 256);
#pragma unroll
                        for (int b = 0; b < 5; b++) {
                            if (ih >= b && ih - b < 4) {
                                conv3d_box_mma16(acc[ih - b][0], lo[b], hi[b], p[0], p[1]);
                                conv3d_box_mma16(acc[ih - b][1], lo[b], hi[b], p[2], p[3]);
                                conv3d_box_mma16(acc[ih - b][2], lo[b], hi[b], q[0], q[1]);
                                conv3d_box_mma16(acc[ih - b][3], lo[b], hi[b], q[2], q[3]);
                            }
                        }
                    }
                }
                uint2 last[5];
#pragma unroll
                for (int b = 0; b < 5; b++) last[b] = *reinterpret_cast<const uint2*>(wa + (b * 7 + 6) * kBoxTapBytes);
#pragma unroll
                for (int ih = 0; ih < 8; ih++) {
                    unsigned p[4];
                    conv3d_box_load(p, at8 + ih * kBoxColumns * 16);
#pragma unroll
                    for (int b = 0; b < 5; b++) {
                        if (ih >= b && ih - b < 4) {
                            conv3d_box_mma8(acc[ih - b][0], last[b], p[0]);
                            conv3d_box_mma8(acc[ih - b][1], last[b], p[1]);
                            conv3d_box_mma8(acc[ih - b][2], last[b], p[2]);
                            conv3d_box_mma8(acc[ih - b][3], last[b], p[3]);
                        }
                    }
                }
                at16 += kBoxPlane * 16;
                at8 += kBoxPlane * 16;
                wa += 5 * 7 * kBoxTapBytes;
            }

            const int oc = lane >> 2, ow = ow0 + wb + (lane & 3) * 2;
            const size_t eight = (size_t)8 * OD * OH * OW;
            __half* y0 = y + (((((size_t)n * G + g) * 16 + oc) * OD + od) * OH + oh0) * OW + ow;
#pragma unroll
            for (int oh = 0; oh < 4; oh++) {
                if (oh0 + oh < OH) {
                    __half* to = y0 + (size_t)oh * OW;
#pragma unroll
                    for (int nt = 0; nt < 4; nt++) {
                        const int c = nt * 8;
                        const float(&v)[4] = acc[oh][nt];
                        if (PAIR) {
                            if (ow + c < OW) {
                                *reinterpret_cast<__half2*>(to + c) = __floats2half2_rn(v[0], v[1]);
                                *reinterpret_cast<__half2*>(to + eight + c) = __floats2half2_rn(v[2], v[3]);
                            }
                        } else {
                            if (ow + c < OW) {
                                to[c] = __float2half_rn(v[0]);
                                to[eight + c] = __float2half_rn(v[2]);
                            }
                            if (ow + c + 1 < OW) {
                                to[c + 1] = __float2half_rn(v[1]);
                                to[eight + c + 1] = __float2half_rn(v[3]);
                            }
                        }
                    }
                }
            }
        }
    }
}

extern "C" void conv3d_box_grouped(const __half* x, const __half* w, __half* y, int N, int IC, int OC, int G, int D, int H,
                                   int W, int KD, int KH, int KW, cudaStream_t st) {
    int OD = D - KD + 1, OH = H - KH + 1, OW = W - KW + 1;
    if (KD == 3 && KH == 5 && KW == 7 && G > 0 && IC == 8LL * G && OC == 16LL * G && N > 0 && OD > 0 && OH > 0 && OW > 0) {
        long long tiles = (long long)N * CEIL_DIV(OD, 4) * CEIL_DIV(OH, 4) * CEIL_DIV(OW, 64);
        long long blocks = 264 / G;   // of a group: two a multiprocessor over all groups
        if (blocks > tiles) blocks = tiles;
        if (blocks < 1) blocks = 1;
        dim3 wide((unsigned)(G * blocks));
        if (OW % 2 == 0 && (size_t)y % 4 == 0) {
            cudaFuncSetAttribute(conv3d_box_mma_kernel<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBoxBytes);
            conv3d_box_mma_kernel<true><<<wide, kBoxThreads, kBoxBytes, st>>>(x, w, y, N, G, D, H, W, (int)tiles);
        } else {
            cudaFuncSetAttribute(conv3d_box_mma_kernel<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBoxBytes);
            conv3d_box_mma_kernel<false><<<wide, kBoxThreads, kBoxBytes, st>>>(x, w, y, N, G, D, H, W, (int)tiles);
        }
        return;
    }
    dim3 block(32, 4);
    dim3 grid(CEIL_DIV(OW, 32), CEIL_DIV(OD * OH, 4), N * OC);
    conv3d_grouped_kernel<<<grid, block, 0, st>>>(x, w, y, IC, OC, G, D, H, W, KD, KH, KW);
}