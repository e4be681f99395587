constexpr int kEmbeddingThreads = 1024;  // also the entries and the rows that a block can hold
constexpr int kEmbeddingBlocks = 132 * @PER_SM@;
constexpr int kEmbeddingScan = 16;       // ids that a thread loads at a time
constexpr int kEmbeddingPacks = @PACKS@;

template <typename T, int N>
struct alignas(sizeof(T) * N) EmbeddingPack {
    T v[N];
};

// Each block owns `share` rows of dweight. It lists the tokens of its rows in shared memory, adds them in registers, in
// the order of the tokens, and writes each row once, zeros included. If more tokens fall into its rows than it can
// list, it takes the tokens in smaller windows, of which the later ones add to the rows.
template <typename T, int VEC>
__global__ void __launch_bounds__(kEmbeddingThreads, @PER_SM@)
embedding_backward_kernel(float* dweight, const T* __restrict__ dout, const int* __restrict__ ids, int tokens,
                          int vocab, int dim, int share) {
    __shared__ int head[kEmbeddingThreads];   // of each row: its first entry, or -1
    __shared__ int tok[kEmbeddingThreads];    // of each entry: the token, the row, the next entry of the row
    __shared__ int rowOf[kEmbeddingThreads];
    __shared__ int nxt[kEmbeddingThreads];
    __shared__ int count;
    __shared__ unsigned item;

    const int lane = threadIdx.x & 31;
    const int entry = threadIdx.x;
    const unsigned row0 = blockIdx.x * static_cast<unsigned>(share);
    const unsigned rows = min(static_cast<unsigned>(share), static_cast<unsigned>(vocab) - row0);
    const unsigned cols = dim;
    const unsigned slices = (cols - 1) / (32 * kEmbeddingPacks * VEC) + 1;

    int begin = 0;
    int window = tokens;
    bool first = true;
    do {
        if (threadIdx.x < rows) head[threadIdx.x] = -1;
        if (threadIdx.x == 0) {
            count = 0;
            item = 0;
        }
        __syncthreads();

        const int len = min(window, tokens - begin);
        for (unsigned at = threadIdx.x; at < static_cast<unsigned>(len); at += kEmbeddingScan * kEmbeddingThreads) {
            int id[kEmbeddingScan];
#pragma unroll
            for (int k = 0; k < kEmbeddingScan; ++k) {
                const unsigned i = at + k * kEmbeddingThreads;
                id[k] = i < static_cast<unsigned>(len) ? ids[static_cast<int64_t>(begin) + i] : -1;
            }
#pragma unroll
            for (int k = 0; k < kEmbeddingScan; ++k) {
                const unsigned r = static_cast<unsigned>(id[k]) - row0;
                if (r < rows) {
                    const int slot = atomicAdd(&count, 1);
                    if (slot < kEmbeddingThreads) {
                        tok[slot] = begin + static_cast<int>(at + k * kEmbeddingThreads);
                        rowOf[slot] = static_cast<int>(r);
                        nxt[slot] = atomicExch(&head[r], slot);
                    }
                }
            }
        }
        __syncthreads();

        const bool ok = count <= kEmbeddingThreads;
        const int entries = ok ? count : 0;

        // Slots were given in any order: link each row's entries by rising token.
        int next = -1;
        bool least = true;
        if (entry < entries) {
            const int mine = tok[entry];
            for (int e = head[rowOf[entry]]; e >= 0; e = nxt[e]) {
                const int other = tok[e];
                least = least && other >= mine;
                if (other > mine && (next < 0 || other < tok[next])) next = e;
            }
        }
        __syncthreads();
        if (entry < entries) {
            nxt[entry] = next;
            if (least) head[rowOf[entry]] = entry;
        }
        __syncthreads();

        const unsigned total = ok ? rows * slices : 0;
        for (;;) {
            unsigned it = 0;
            if (lane == 0) it = atomicAdd(&item, 1u);
            it = __shfl_sync(0xffffffffu, it, 0);
            if (it >= total) break;

            const unsigned r = it / slices;
            const unsigned c0 = it % slices * (32 * kEmbeddingPacks * VEC) + lane * VEC;
            int e = head[r];
            if (first || e >= 0) {
                float* row = dweight + static_cast<int64_t>(row0 + r) * dim;
                EmbeddingPack<float, VEC> acc[kEmbeddingPacks];
#pragma unroll
                for (int k = 0; k < kEmbeddingPacks; ++k) {
                    const unsigned c = c0 + k * 32 * VEC;
                    acc[k] = !first && c < cols ? *reinterpret_cast<EmbeddingPack<float, VEC>*>(row + c)
                                                : EmbeddingPack<float, VEC>{};
                }
                while (e >= 0) {
                    const T* from = dout + static_cast<int64_t>(tok[e]) * dim;
                    e = nxt[e];
                    EmbeddingPack<T, VEC> in[kEmbeddingPacks];
#pragma unroll
                    for (int k = 0; k < kEmbeddingPacks; ++k) {
                        const unsigned c = c0 + k * 32 * VEC;
                        if (c < cols) in[k] = *reinterpret_cast<const EmbeddingPack<T, VEC>*>(from + c);
                    }
#pragma unroll
                    for (int k = 0; k < kEmbeddingPacks; ++k) {
                        if (c0 + k * 32 * VEC < cols) {
#pragma unroll
                            for (int j = 0; j < VEC; ++j) acc[k].v[j] += load(&in[k].v[j]);
                        }
                    }
                }
#pragma unroll
                for (int k = 0; k < kEmbeddingPacks; ++k) {
                    const unsigned c = c0 + k * 32 * VEC;
                    if (c < cols) *reinterpret_cast<EmbeddingPack<float, VEC>*>(row + c) = acc[k];
                }
            }
        }

        begin = ok ? begin + len : begin;
        first = first && !ok;
        window = ok ? window : window / 2;
        __syncthreads();
    } while (begin < tokens);
}