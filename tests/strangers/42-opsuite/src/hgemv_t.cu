/* y := alpha * A^T x + beta * y, A is rows x cols (row-major), one thread for each y. */
#include <cuda_fp16.h>

__global__ void hgemv_t_kernel(int rows, int cols, float alpha, const __half *A, const __half *x, float beta, __half *y)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= cols)
        return;

    float sum = 0.f;
    for (int i = 0; i < rows; i++)
        sum += __half2float(A[(size_t)i * cols + j]) * __half2float(x[i]);

    y[j] = __float2half(alpha * sum + beta * __half2float(y[j]));
}

extern "C" void hgemv_t(int rows, int cols, float alpha, const __half *A, const __half *x, float beta, __half *y)
{
    int threads = 128;
    int blocks = (cols + threads - 1) / threads;
    hgemv_t_kernel<<<blocks, threads>>>(rows, cols, alpha, A, x, beta, y);
}
