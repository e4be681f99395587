__device__ __forceinline__ unsigned shared_address(const void* p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// 16 bytes to shared memory, asynchronously. If they are not valid, zeros are written and nothing is read.
__device__ __forceinline__ void copy_async(void* to, const void* from, bool valid)
{
    const unsigned size = valid ? 16u : 0u;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared_address(to)), "l"(from), "r"(size)
                 : "memory");
}

__device__ __forceinline__ void commit_copies()
{
    asm volatile("cp.async.commit_group;\n" ::: "memory");
}

// until at most kPending groups of copies are on their way
template <int kPending>
__device__ __forceinline__ void wait_copies()
{
    asm volatile("cp.async.wait_group %0;\n" ::"n"(kPending) : "memory");
}

// Four 8 x 8 matrices: lane i gives the address of row i % 8 of matrix i / 8.
__device__ __forceinline__ void load_matrices(unsigned (&r)[4], const uint4* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ __forceinline__ void load_matrices_transposed(unsigned (&r)[4], const uint4* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ __forceinline__ void multiply_add(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void unpack(float (&v)[8], const uint4& w)
{
    v[0] = __uint_as_float(w.x << 16);
    v[1] = __uint_as_float(w.x & 0xffff0000u);
    v[2] = __uint_as_float(w.y << 16);
    v[3] = __uint_as_float(w.y & 0xffff0000u);
    v[4] = __uint_as_float(w.z << 16);
    v[5] = __uint_as_float(w.z & 0xffff0000u);
    v[6] = __uint_as_float(w.w << 16);
    v[7] = __uint_as_float(w.w & 0xffff0000u);
}

__device__ __forceinline__ unsigned pack(float low, float high)
{
    return (unsigned)__bfloat16_as_ushort(__float2bfloat16(low)) |
           (unsigned)__bfloat16_as_ushort(__float2bfloat16(high)) << 16;
}

__device__ __forceinline__ uint4 pack(const float (&v)[8])
{
    return make_uint4(pack(v[0], v[1]), pack(v[2], v[3]), pack(v[4], v[5]), pack(v[6], v[7]));
}

// Eight neighbours in a row of a rows x cols matrix, zeros beyond it. kVec, here and below: all matrices begin at 16 bytes,
// and M and N are multiples of eight.
template <bool kVec>
__device__ __forceinline__ uint4 fetch(const bf16* __restrict__ base, unsigned row, unsigned rows, unsigned col,
                                       unsigned cols)
{
    uint4 v = make_uint4(0u, 0u, 0u, 0u);
    if (row < rows && col < cols) {
        const bf16* p = base + (size_t)row * cols + col;
        if constexpr (kVec) {
            v = *reinterpret_cast<const uint4*>(p);
        } else {
            const unsigned left = cols - col;
            unsigned w[4];
#pragma unroll
            for (unsigned i = 0; i < 4; ++i) {
                const unsigned low = 2 * i < left ? (unsigned)__bfloat16_as_ushort(p[2 * i]) : 0u;
                const unsigned high = 2 * i + 1 < left ? (unsigned)__bfloat16_as_ushort(p[2 * i + 1]) : 0u;
                w[i] = low | high << 16;
            }
            v = make_uint4(w[0], w[1], w[2], w[3]);
        }
    }
    return v;
}

// The counterpart: writes what lies within the matrix
template <bool kVec>
__device__ __forceinline__ void put(bf16* __restrict__ base, unsigned row, unsigned rows, unsigned col, unsigned cols,
                                    const float (&v)[8])
{
    if (row >= rows || col >= cols) return;
    bf16* p = base + (size_t)row * cols + col;
    if constexpr (kVec) {
        *reinterpret_cast<uint4*>(p) = pack(v);
    } else {
        const unsigned left = cols - col;
#pragma unroll
        for (unsigned i = 0; i < 8; ++i)
            if (i < left) p[i] = __float2bfloat16(v[i]);
    }
}

// Chunks kFirst to kLast - 1 of each thread, of a tile with kChunks chunks of 16 bytes a row, whose corner is (r0, c0).
// The chunks of a row are permuted by its number, so that ldmatrix finds eight rows in different banks.
template <bool kVec, unsigned kChunks, unsigned kFirst, unsigned kLast>
__device__ __forceinline__ void load_tile(uint4* tile, const bf16* __restrict__ base, unsigned r0, unsigned rows,
                                          unsigned c0, unsigned cols)
{
    const unsigned chunk = threadIdx.x % kChunks, col = c0 + chunk * 8;
#pragma unroll (kVec ? 4 : 1)
    for (unsigned i = kFirst; i < kLast; ++i) {
        const unsigned r = threadIdx.x / kChunks + i * (kThreads / kChunks), row = r0 + r;
        uint4* to = tile + r * kChunks + (chunk ^ (r & 7));
        if constexpr (kVec) {
            const bool valid = row < rows && col < cols;
            copy_async(to, valid ? base + (size_t)row * cols + col : base, valid);
        } else {
            *to = fetch<false>(base, row, rows, col, cols);
        }
    }
}

// s = alpha d + beta s
__device__ __forceinline__ void axpby(float (&s)[8], const uint4& d, float alpha, float beta)
{
    float v[8];
    unpack(v, d);
#pragma unroll
    for (int i = 0; i < 8; ++i) s[i] = alpha * v[i] + beta * s[i];
}

// An item is eight neighbours, or one.
template <bool kVec>
__global__ void __launch_bounds__(kThreads)
sum_of_squares(const bf16* __restrict__ g, float* __restrict__ out, size_t items)
{
    __shared__ float part[kThreads / 32];
    const size_t stride = (size_t)gridDim.x * kThreads;
    float s = 0.f;
    for (size_t i = (size_t)blockIdx.x * kThreads + threadIdx.x; i < items; i += 4 * stride) {
        if constexpr (kVec) {
            uint4 w[4];
#pragma unroll
            for (int j = 0; j < 4; ++j)
                w[j] = i + j * stride < items ? reinterpret_cast<const uint4*>(g)[i + j * stride]
                                              : make_uint4(0u, 0u, 0u, 0u);
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                float v[8];
                unpack(v, w[j]);
#pragma unroll
                for (int k = 0; k < 8; ++k) s += v[k] * v[k];
            }
        } else {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const float v = i + j * stride < items ? __bfloat162float(g[i + j * stride]) : 0.f;
                s += v * v;
            }
        }
    }
    for (int o = 16; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = part[0];
#pragma unroll
        for (int w = 1; w < kThreads / 32; ++w) sum += part[w];
        atomicAdd(out, sum);
    }
}
