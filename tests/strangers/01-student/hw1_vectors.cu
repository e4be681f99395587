// Parallel Computing, homework 1.   Abgabe: Gruppe 7
#include <stdio.h>
#include <cuda_runtime.h>

#define BLOCKSIZE 256

__global__ void kernelAdd(float *a, float *b, float *c, int size)
{
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    if (tid < size)
        c[tid] = a[tid] + b[tid];
}

void addVektor(float *a, float *b, float *c, int size)
{
    int numBlocks = (size + BLOCKSIZE - 1) / BLOCKSIZE;
    kernelAdd<<<numBlocks, BLOCKSIZE>>>(a, b, c, size);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess)
        printf("Error: %s\n", cudaGetErrorString(err));
}

__global__ void saxpyKernel(int n, float a, float *x, float *y)
{
    int i = blockIdx.x*blockDim.x + threadIdx.x;
    if (i < n) y[i] = a*x[i] + y[i];
}

void saxpy_hw(int n, float a, float *x, float *y)
{
    saxpyKernel<<<(n+255)/256, 256>>>(n, a, x, y);
    cudaDeviceSynchronize();
}

// exercise 3: leaky relu. slope is fixed in the task
__global__ void leakyKernel(float *in, float *out, int anzahl)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= anzahl) return;
    if (in[index] > 0.0)
        out[index] = in[index];
    else
        out[index] = 0.01 * in[index];   // the double constant is what the slides had
}

void leakyReLU(float *in, float *out, int anzahl)
{
    dim3 threads(128, 1, 1);
    dim3 grid((anzahl - 1) / 128 + 1, 1, 1);
    leakyKernel<<<grid, threads>>>(in, out, anzahl);
}

__global__ void clampKernel(float *data, float lo, float hi, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    {
        if (data[i] < lo) data[i] = lo;
        if (data[i] > hi) data[i] = hi;
    }
}

void clampIt(float *data, float lo, float hi, int n)
{
    clampKernel<<<4, 64>>>(data, lo, hi, n);
}

// exercise 6: how many numbers are positive?
__global__ void countKernel(const float *werte, int *result, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && werte[i] > 0.0f) atomicAdd(result, 1);
}

void countPositives(const float *werte, int *result, int n)
{
    cudaMemset(result, 0, sizeof(int));
    countKernel<<<(n + BLOCKSIZE - 1) / BLOCKSIZE, BLOCKSIZE>>>(werte, result, n);
}

// exercise 7 (bonus): prime test of the numbers start, start+1, ...
__global__ void primeKernel(int *isPrime, int start, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int number = start + i;
        int prime = number > 1;
        for (int d = 2; d * d <= number; d++)
            if (number % d == 0) { prime = 0; break; }
        isPrime[i] = prime;
    }
}

void findPrimes(int *isPrime, int start, int n)
{
    primeKernel<<<(n + 63) / 64, 64>>>(isPrime, start, n);
}
