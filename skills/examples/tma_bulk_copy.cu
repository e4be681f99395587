// Sums of tiles that the copy engine brings into shared memory: by bulk copies of neighbouring bytes, and by a tensor map.
// sm_90. Launch: one block of 256 threads for each row, or for each tile.

// A CUtensorMap, whose header is not for device code.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};
constexpr int kElements = 1024, kStages = 4, kRows = 32, kColumns = 32;

__device__ unsigned SharedAddress(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void Initialize(unsigned long long* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(SharedAddress(barrier)) : "memory");
}
// By the one thread that starts a copy: it arrives, and says how many bytes will.
__device__ void Expect(unsigned long long* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SharedAddress(barrier)), "r"(bytes)
               : "memory");
}
// `phase`: 0 for the first use of the barrier, then 1, 0, 1 ...
__device__ void Await(unsigned long long* barrier, unsigned phase) {
  unsigned done = 0;
  while (done == 0)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(SharedAddress(barrier)), "r"(phase) : "memory");
}
__device__ float SumOverBlock(float v) {
  __shared__ float of_warp[8];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0;
  for (int w = 0; w < 8; ++w) v += of_warp[w];
  return v;
}

// Rows of `columns`, a multiple of kElements, from an address that is a multiple of 16 bytes: no tensor map, so that any
// launcher may use it. A ring of kStages tiles.
__global__ void __launch_bounds__(256) bulk_row_sums(float* __restrict__ out, const float* __restrict__ in, int columns) {
  __shared__ __align__(128) float ring[kStages][kElements];
  __shared__ unsigned long long full[kStages];
  const float* row = in + static_cast<size_t>(blockIdx.x) * columns;
  const int tiles = columns / kElements;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) Initialize(&full[s]);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");  // the copy engine sees them initialised
  }
  __syncthreads();
  const auto start = [&](int tile) {
    unsigned long long* barrier = &full[tile % kStages];
    Expect(barrier, kElements * 4);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     SharedAddress(ring[tile % kStages])),
                 "l"(row + static_cast<size_t>(tile) * kElements), "r"(kElements * 4), "r"(SharedAddress(barrier))
                 : "memory");
  };
  if (threadIdx.x == 0)
    for (int t = 0; t < kStages && t < tiles; ++t) start(t);
  float sum = 0;
  for (int t = 0; t < tiles; ++t) {
    Await(&full[t % kStages], t / kStages % 2);
    for (int i = threadIdx.x; i < kElements; i += 256) sum += ring[t % kStages][i];
    __syncthreads();  // everybody has read the tile before it is overwritten
    if (threadIdx.x == 0 && t + kStages < tiles) start(t + kStages);
  }
  sum = SumOverBlock(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// A box of a matrix, by a descriptor that the host encodes with cuTensorMapEncodeTiled (rank 2, sizes {columns, rows},
// stride {columns * 4} bytes: a multiple of 16, box {kColumns, kRows}, element strides {1, 1}, no swizzle) and passes by
// value. What is beyond the matrix comes as zeros, and counts among the bytes. A launcher that may not call the driver
// cannot make one: use bulk copies.
__global__ void __launch_bounds__(256) tensor_tile_sums(float* __restrict__ out, const __grid_constant__ TensorMap map) {
  __shared__ __align__(128) float tile[kRows][kColumns];
  __shared__ unsigned long long full;
  if (threadIdx.x == 0) {
    Initialize(&full);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    Expect(&full, sizeof tile);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
                 "[%4];" ::"r"(SharedAddress(tile)), "l"(&map), "r"(static_cast<int>(blockIdx.x) * kColumns),
                 "r"(static_cast<int>(blockIdx.y) * kRows), "r"(SharedAddress(&full))
                 : "memory");
  }
  __syncthreads();
  Await(&full, 0);
  float sum = 0;
  for (int i = threadIdx.x; i < kRows * kColumns; i += 256) sum += tile[i / kColumns][i % kColumns];
  sum = SumOverBlock(sum);
  if (threadIdx.x == 0) out[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}
