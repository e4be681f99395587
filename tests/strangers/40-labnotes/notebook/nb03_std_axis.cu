// Mean and standard deviation along one axis of a contiguous array, seen as [outer][len][inner].
// Same as numpy.std(x, axis, ddof=ddof) but in one pass (Welford), since the detector's offsets are huge.
#include <cuda_runtime.h>

template <typename Real>
struct Running {
    Real mean;
    Real m2;
    int count;

    __device__ Running() : mean(0), m2(0), count(0) {}

    __device__ void push(Real v) {
        ++count;
        Real delta = v - mean;
        mean += delta / count;
        m2 += delta * (v - mean);
    }
};

template <typename Real>
__global__ void std_kernel(const Real* x, Real* mean, Real* sd, int outer, int len, int inner, int ddof) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outer * inner) return;
    int o = i / inner;
    int k = i % inner;

    Running<Real> r;
    for (int j = 0; j < len; j++) {
        r.push(x[((size_t)o * len + j) * inner + k]);
    }
    mean[i] = r.mean;
    sd[i] = len > ddof ? sqrt(r.m2 / (len - ddof)) : Real(0);
}

bool std_axis(const double* x, double* mean, double* sd, int outer, int len, int inner, int ddof) {
    if (outer < 1 || len < 1 || inner < 1) return false;
    int n = outer * inner;
    std_kernel<double><<<(n + 127) / 128, 128>>>(x, mean, sd, outer, len, inner, ddof);
    return cudaPeekAtLastError() == cudaSuccess;
}
