#include "include/block.cuh"

// ---- argmax per row: ties go to the smaller index --------------------------------------------------
struct KeyValue {
    int key;
    float value;
};

struct ArgMax {
    __device__ KeyValue operator()(KeyValue a, KeyValue b) const {
        return b.value > a.value || (b.value == a.value && b.key < a.key) ? b : a;
    }
};

__global__ void RowArgMax(const float* x, int* index, float* value, int cols) {
    __shared__ KeyValue best[128];
    const float* row = x + (size_t)blockIdx.x * cols;
    KeyValue mine{0x7fffffff, -INFINITY};
    for (int c = threadIdx.x; c < cols; c += 128) mine = ArgMax()(mine, KeyValue{c, row[c]});
    best[threadIdx.x] = mine;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) best[threadIdx.x] = ArgMax()(best[threadIdx.x], best[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        index[blockIdx.x] = best[0].key;
        value[blockIdx.x] = best[0].value;
    }
}

void row_argmax(const float* x, int* index, float* value, int rows, int cols) { RowArgMax<<<rows, 128>>>(x, index, value, cols); }

// ---- minimum over the middle axis of [outer][axis][inner] ------------------------------------------
__global__ void MiddleMin(const float* x, float* out, int outer, int axis, int inner) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outer * inner) return;
    const float* p = x + (size_t)(i / inner) * axis * inner + i % inner;
    float m = p[0];
#pragma unroll 4
    for (int a = 1; a < axis; ++a) m = fminf(m, p[(size_t)a * inner]);
    out[i] = m;
}

void min_over_axis1(const float* x, float* out, int outer, int axis, int inner) {
    MiddleMin<<<(outer * inner + 127) / 128, 128>>>(x, out, outer, axis, inner);
}

// ---- log-sum-exp per row, two-stage ----------------------------------------------------------------
__global__ void RowLogSumExp(const float* x, float* out, int rows, int cols) {
    using MaxReduce = hc::BlockReduce<128, float, hc::Max<float>>;
    using SumReduce = hc::BlockReduce<128, float, hc::Sum<float>>;
    __shared__ union {
        typename MaxReduce::TempStorage max;
        typename SumReduce::TempStorage sum;
    } temp;
    __shared__ float row_max;
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        float m = -INFINITY;
        for (int c = threadIdx.x; c < cols; c += 128) m = fmaxf(m, x[(size_t)r * cols + c]);
        m = MaxReduce(temp.max).reduce(m);
        if (threadIdx.x == 0) row_max = m;
        __syncthreads();
        m = row_max;
        float s = 0.0f;
        for (int c = threadIdx.x; c < cols; c += 128) s += expf(x[(size_t)r * cols + c] - m);
        s = SumReduce(temp.sum).reduce(s);
        if (threadIdx.x == 0) out[r] = m + logf(s);
        __syncthreads();
    }
}

void row_logsumexp(const float* x, float* out, int rows, int cols) {
    RowLogSumExp<<<rows < 264 ? rows : 264, 128>>>(x, out, rows, cols);
}

// ---- maximum of all integers: atomics on one word ---------------------------------------------------
__global__ void SetInt(int* p, int v) { *p = v; }

__global__ void DeviceMax(const int* __restrict__ x, int* out, int n) {
    using Reduce = hc::BlockReduce<256, int, hc::Max<int>>;
    __shared__ typename Reduce::TempStorage temp;
    int m = hc::Max<int>::identity();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) m = max(m, x[i]);
    m = Reduce(temp).reduce(m);
    if (threadIdx.x == 0) atomicMax(out, m);
}

void device_max_i32(const int* x, int* out, int n) {
    SetInt<<<1, 1>>>(out, -2147483647 - 1);
    int blocks = (n + 255) / 256;
    DeviceMax<<<blocks < 1056 ? blocks : 1056, 256>>>(x, out, n);
}
