#include <cuda_runtime.h>


// A warp has a row.
__global__ void __launch_bounds__(128) row_sums(float* rows, const float* __restrict__ x, int M, int N) {
  int m = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (m >= M) return;
  float s = 0.0f;
  for (int n = lane; n < N; n += 32) s += x[(size_t)m * N + n];
#pragma unroll
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
  if (lane == 0) rows[m] = s;
}

// A block has 32 columns, each of its 8 warps every eighth row.
__global__ void __launch_bounds__(256) column_sums(float* columns, const float* __restrict__ x, int M, int N) {
  __shared__ float part[8][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, n = blockIdx.x * 32 + lane;
  float s = 0.0f;
  if (n < N)
    for (int m = warp; m < M; m += 8) s += x[(size_t)m * N + n];
  part[warp][lane] = s;
  __syncthreads();
  if (warp != 0 || n >= N) return;
#pragma unroll
  for (int w = 1; w < 8; ++w) s += part[w][lane];
  columns[n] = s;
}

__global__ void __launch_bounds__(256) transpose(float* xt, const float* __restrict__ x, int M, int N, int tiles_n) {
  __shared__ float tile[32][33];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int m0 = blockIdx.x / tiles_n * 32, n0 = blockIdx.x % tiles_n * 32;
#pragma unroll
  for (int j = warp; j < 32; j += 8)
    if (m0 + j < M && n0 + lane < N) tile[j][lane] = x[(size_t)(m0 + j) * N + n0 + lane];
  __syncthreads();
#pragma unroll
  for (int j = warp; j < 32; j += 8)
    if (n0 + j < N && m0 + lane < M) xt[(size_t)(n0 + j) * M + m0 + lane] = tile[lane][j];
}

// Two streams beside that of the caller, per thread and device.
struct Side {
  cudaStream_t streams[2];
  cudaEvent_t fork, joins[2];
  bool ready;
};

static Side* side_of_this_device() {
  static thread_local Side sides[16];
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device < 0 || device >= 16) return nullptr;
  Side* side = &sides[device];
  if (!side->ready) {
    if (cudaEventCreateWithFlags(&side->fork, cudaEventDisableTiming) != cudaSuccess) return nullptr;
    for (int i = 0; i < 2; ++i) {
      if (cudaStreamCreateWithFlags(&side->streams[i], cudaStreamNonBlocking) != cudaSuccess) return nullptr;
      if (cudaEventCreateWithFlags(&side->joins[i], cudaEventDisableTiming) != cudaSuccess) return nullptr;
    }
    side->ready = true;
  }
  return side;
}

void marginals(float* rows, float* columns, float* xt, const float* x, int M, int N, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  int tiles_m = (M + 31) / 32, tiles_n = (N + 31) / 32;
  Side* side = side_of_this_device();
  cudaStream_t second = side ? side->streams[0] : stream, third = side ? side->streams[1] : stream;
  if (side) {
    cudaEventRecord(side->fork, stream);
    cudaStreamWaitEvent(second, side->fork, 0);
    cudaStreamWaitEvent(third, side->fork, 0);
  }
  row_sums<<<(M + 3) / 4, 128, 0, stream>>>(rows, x, M, N);
  column_sums<<<tiles_n, 256, 0, second>>>(columns, x, M, N);
  transpose<<<(unsigned)((size_t)tiles_m * tiles_n), 256, 0, third>>>(xt, x, M, N, tiles_n);
  if (side) {
    cudaEventRecord(side->joins[0], second);
    cudaStreamWaitEvent(stream, side->joins[0], 0);
    cudaEventRecord(side->joins[1], third);
    cudaStreamWaitEvent(stream, side->joins[1], 0);
  }
}
