#include "include/block.cuh"

// Three-phase scan of one long array: blocks, then their totals, then the prefixes are added.
// block_sums has ceil(n / 512) elements.
constexpr int SCAN_THREADS = 128;
constexpr int SCAN_ITEMS = 4;
constexpr int SCAN_TILE = SCAN_THREADS * SCAN_ITEMS;

template <typename T, bool EXCLUSIVE>
__global__ void ScanTiles(const T* in, T* out, T* block_sums, int n) {
    using Scan = hc::BlockScan<SCAN_THREADS, T, hc::Sum<T>>;
    __shared__ typename Scan::TempStorage temp;
    const int base = blockIdx.x * SCAN_TILE + threadIdx.x * SCAN_ITEMS;
    T item[SCAN_ITEMS], sum = 0;
#pragma unroll
    for (int i = 0; i < SCAN_ITEMS; ++i) {
        item[i] = base + i < n ? in[base + i] : T(0);
        sum += item[i];
    }
    T incl, total;
    Scan(temp).inclusive(sum, incl, total);
    T run = incl - sum;
#pragma unroll
    for (int i = 0; i < SCAN_ITEMS; ++i) {
        if (EXCLUSIVE && base + i < n) out[base + i] = run;
        run += item[i];
        if (!EXCLUSIVE && base + i < n) out[base + i] = run;
    }
    if (threadIdx.x == 0) block_sums[blockIdx.x] = total;
}

template <typename T>
__global__ void ScanSums(T* block_sums, int blocks) {
    using Scan = hc::BlockScan<SCAN_THREADS, T, hc::Sum<T>>;
    __shared__ typename Scan::TempStorage temp;
    T carry = 0;
    for (int base = 0; base < blocks; base += SCAN_THREADS) {
        const int i = base + threadIdx.x;
        const T x = i < blocks ? block_sums[i] : T(0);
        T incl, total;
        Scan(temp).inclusive(x, incl, total);
        if (i < blocks) block_sums[i] = carry + incl - x;
        carry += total;
    }
}

template <typename T>
__global__ void AddPrefixes(T* out, const T* block_sums, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += block_sums[i / SCAN_TILE];
}

template <typename T, bool EXCLUSIVE>
static void Scan(const T* in, T* out, T* block_sums, int n, cudaStream_t stream) {
    const int blocks = (n + SCAN_TILE - 1) / SCAN_TILE;
    ScanTiles<T, EXCLUSIVE><<<blocks, SCAN_THREADS, 0, stream>>>(in, out, block_sums, n);
    if (blocks == 1) return;
    ScanSums<T><<<1, SCAN_THREADS, 0, stream>>>(block_sums, blocks);
    AddPrefixes<T><<<(n + 255) / 256, 256, 0, stream>>>(out, block_sums, n);
}

void inclusive_sum_i32(const int* in, int* out, int* block_sums, int n, cudaStream_t stream) {
    Scan<int, false>(in, out, block_sums, n, stream);
}

void exclusive_sum_f32(const float* in, float* out, float* block_sums, int n, cudaStream_t stream) {
    Scan<float, true>(in, out, block_sums, n, stream);
}

// Segmented: one block per row, product, carried across tiles.
__global__ void RowCumProd(const float* in, float* out, int cols) {
    using Scan = hc::BlockScan<64, float, hc::Prod<float>>;
    __shared__ typename Scan::TempStorage temp;
    float carry = 1.0f;
    for (int base = 0; base < cols; base += 64) {
        const int c = base + threadIdx.x;
        const float x = c < cols ? in[(size_t)blockIdx.x * cols + c] : 1.0f;
        float incl, total;
        Scan(temp).inclusive(x, incl, total);
        if (c < cols) out[(size_t)blockIdx.x * cols + c] = carry * incl;
        carry *= total;
    }
}

void row_cumprod(const float* in, float* out, int rows, int cols) { RowCumProd<<<rows, 64>>>(in, out, cols); }

// Masked reverse cumulative sum: out[r][c] = sum of in[r][k] with mask[r][k] for k >= c
__global__ void RowMaskedReverse(const float* in, const bool* mask, float* out, int cols) {
    using Scan = hc::BlockScan<64, float, hc::Sum<float>>;
    __shared__ typename Scan::TempStorage temp;
    float carry = 0.0f;
    const size_t row = (size_t)blockIdx.x * cols;
    for (int base = 0; base < cols; base += 64) {
        const int c = cols - 1 - (base + (int)threadIdx.x);
        const float x = c >= 0 && mask[row + c] ? in[row + c] : 0.0f;
        float incl, total;
        Scan(temp).inclusive(x, incl, total);
        if (c >= 0) out[row + c] = carry + incl;
        carry += total;
    }
}

void row_masked_reverse_cumsum(const float* in, const bool* mask, float* out, int rows, int cols) {
    RowMaskedReverse<<<rows, 64>>>(in, mask, out, cols);
}
