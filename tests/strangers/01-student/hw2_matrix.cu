// Homework 2: matrices
#include <cuda_runtime.h>
#define M 48
#define N 64
#define K 32

__global__ void MatMulKernel(float* A, float* B, float* C) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  float Cvalue = 0;
  for (int e = 0; e < K; ++e)
    Cvalue += A[row * K + e] * B[e * N + col];
  C[row * N + col] = Cvalue;
}

// sizes are given by the exercise, so no if needed
void matMulFixed(float* A, float* B, float* C) {
  dim3 dimBlock(16, 16);
  dim3 dimGrid(N / dimBlock.x, M / dimBlock.y);
  MatMulKernel<<<dimGrid, dimBlock>>>(A, B, C);
}

__global__ void matVecKernel(float* mat, float* vec, float* res, int zeilen, int spalten) {
  int z = blockIdx.x * blockDim.x + threadIdx.x;
  if (z < zeilen) {
    res[z] = 0;
    for (int s = 0; s < spalten; s++) res[z] += mat[z * spalten + s] * vec[s];
  }
}

void matVec(float* mat, float* vec, float* res, int zeilen, int spalten) {
  matVecKernel<<<(zeilen + 31) / 32, 32>>>(mat, vec, res, zeilen, spalten);
}

// C = A + B where B is one row (broadcast)
__global__ void addRowKernel(float* A, float* row, float* C, int h, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) C[y * w + x] = A[y * w + x] + row[x];
}

void addRow(float* A, float* row, float* C, int h, int w) {
  dim3 t(8, 8);
  dim3 b((w + 7) / 8, (h + 7) / 8);
  addRowKernel<<<b, t>>>(A, row, C, h, w);
}

// column sums: one thread per column
__global__ void colSumKernel(float* A, float* sums, int h, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) {
    float s = 0;
    for (int y = 0; y < h; y++) s = s + A[x + y * w];
    sums[x] = s;
  }
}

void columnSums(float* A, float* sums, int h, int w) {
  colSumKernel<<<(w + 127) / 128, 128>>>(A, sums, h, w);
}
