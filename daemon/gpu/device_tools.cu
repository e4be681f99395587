// The device's own kernels: what surrounds a kernel that is run or timed. Compiled by NVRTC for the GPU in use.
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ u32 Mix(u32 x) {  // finalizer of MurmurHash3
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ (x >> 16);
}
__device__ u8 PatternByte(u64 at, u32 seed) { return (u8)(Mix((u32)(at >> 2) ^ seed) >> (8 * (at & 3))); }
__device__ u64 Index() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ u64 Stride() { return (u64)gridDim.x * blockDim.x; }

// Unpredictable bytes, by position.
extern "C" __global__ void fill_pattern(u8* to, u64 bytes, u32 seed) {
  for (u64 i = Index(); i < bytes; i += Stride()) to[i] = PatternByte((u64)to + i, seed);
}
// found[0]: how many differ; found[1]: the first of them, counted from `to`.
extern "C" __global__ void check_pattern(const u8* to, u64 bytes, u32 seed, u64* found) {
  for (u64 i = Index(); i < bytes; i += Stride())
    if (to[i] != PatternByte((u64)to + i, seed)) {
      atomicAdd(&found[0], 1ull);
      atomicMin(&found[1], i);
    }
}
// to = from ^ mask, in words counted from the beginning.
extern "C" __global__ void copy_masked(u8* to, const u8* from, u64 bytes, u32 mask) {
  const u64 words = (((u64)to | (u64)from) & 3) ? 0 : bytes / 4;
  for (u64 i = Index(); i < words; i += Stride()) ((u32*)to)[i] = ((const u32*)from)[i] ^ mask;
  for (u64 i = words * 4 + Index(); i < bytes; i += Stride()) to[i] = from[i] ^ (u8)(mask >> (8 * (i & 3)));
}
extern "C" __global__ void count_different(const u8* a, const u8* b, u64 bytes, u64* found) {
  for (u64 i = Index(); i < bytes; i += Stride())
    if (a[i] != b[i]) atomicAdd(found, 1ull);
}

// Caches: written lines first, then clean ones.
extern "C" __global__ void flush_write(uint4* to, u64 count, u32 value) {
  for (u64 i = Index(); i < count; i += Stride()) to[i] = make_uint4(value, value, value, value);
}
extern "C" __global__ void flush_read(const uint4* from, u64 count, u32* sink) {
  u32 sum = 0;
  for (u64 i = Index(); i < count; i += Stride()) {
    const uint4 v = from[i];
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 0x9e3779b9u) *sink = sum;  // practically never equal; keeps the loads alive
}

// Removes what an earlier kernel left in shared memory, registers and local memory. One block per multiprocessor, with
// all of its shared memory.
extern "C" __global__ void __launch_bounds__(1024) scrub(u32 seed, u32 shared_words, u32* sink) {
  extern __shared__ u32 shared[];
  for (u32 i = threadIdx.x; i < shared_words; i += blockDim.x) shared[i] = Mix(i ^ seed ^ blockIdx.x);
  u32 local[48];
#pragma unroll
  for (int i = 0; i < 48; ++i) local[i] = Mix(seed + i * 0x9e3779b9u + threadIdx.x);
  __syncthreads();
  u32 sum = shared_words ? shared[(threadIdx.x * 7) % shared_words] : 0;
#pragma unroll
  for (int i = 0; i < 48; ++i) sum = Mix(sum ^ local[i]);
  if (sum == 0x9e3779b9u) *sink = sum;
}

// Clock and time of each multiprocessor, by its number.
extern "C" __global__ void stamp(u64* clocks, u64* times, u32 slots) {
  u32 sm;
  u64 time;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  const u64 clock = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  if (threadIdx.x == 0 && sm < slots) {
    clocks[sm] = clock;
    times[sm] = time;
  }
}

__device__ u64 Now() {
  u64 time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}
// Holds the stream until the host sets the flag (after nvbench's blocking kernel), or for at most `limit_ns`.
extern "C" __global__ void hold(volatile u32* flag, u32 value, u64 limit_ns, u32* late) {
  const u64 begin = Now();
  while (*flag != value)
    if (Now() - begin > limit_ns) {
      *late = 1;
      return;
    }
}
// Occupies the multiprocessors that its blocks fill; arrived counts them.
extern "C" __global__ void occupy(volatile u32* flag, u32 value, u64 limit_ns, u32* arrived) {
  extern __shared__ u32 shared[];
  if (threadIdx.x != 0) return;
  shared[0] = 0;
  atomicAdd(arrived, 1u);
  const u64 begin = Now();
  while (*flag != value && Now() - begin < limit_ns) {
  }
}
// Reads and writes memory while another kernel runs.
extern "C" __global__ void make_noise(volatile u32* flag, u32 value, u64 limit_ns, uint4* memory, u64 count) {
  const u64 begin = Now();
  u64 i = Index();
  do {  // the flag is in host memory, across the bus
    for (int turn = 0; turn < 16; ++turn, i += Stride()) {
      uint4 v = memory[i % count];
      v.x += 1;
      memory[i % count] = v;
    }
  } while (*flag != value && Now() - begin < limit_ns);
}

// Elements as double, in the order of names in the host's table of core/dtype.h.
enum Type { kF64, kF32, kF16, kBF16, kI64, kI32, kU32, kI8, kU8 };
__device__ double Load(const u8* p, u64 i, int type) {
  switch (type) {
    case kF64: return ((const double*)p)[i];
    case kF32: return ((const float*)p)[i];
    case kF16: {
      float f;
      asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(((const unsigned short*)p)[i]));
      return f;
    }
    case kBF16: return __uint_as_float((u32)((const unsigned short*)p)[i] << 16);
    case kI64: return (double)((const long long*)p)[i];
    case kI32: return ((const int*)p)[i];
    case kU32: return ((const u32*)p)[i];
    case kI8: return ((const signed char*)p)[i];
    default: return p[i];
  }
}
__device__ u64 Bits(const u8* p, u64 i, int size) {
  u64 bits = 0;
  for (int b = 0; b < size; ++b) bits |= (u64)p[i * size + b] << (8 * b);
  return bits;
}
__device__ int ClassOf(double x) { return isnan(x) ? 1 : isinf(x) ? (x > 0 ? 2 : 3) : 0; }
// sums: {sum (c-o)^2, sum o^2}; counts: {different class, unwritten}. `poison` is what the outputs held, xor `mask` by words.
// Of the finite elements: sums[1] is the sum of their squares. To be run before `drift`.
extern "C" __global__ void magnitude(const u8* original, u64 count, int type, double* sums) {
  double square = 0;
  for (u64 i = Index(); i < count; i += Stride()) {
    const double o = Load(original, i, type);
    if (ClassOf(o) == 0) square += o * o;
  }
  for (int offset = 16; offset > 0; offset /= 2) square += __shfl_down_sync(0xffffffffu, square, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(&sums[1], square);
}

extern "C" __global__ void drift(const u8* original, const u8* candidate, const u8* poison, u32 mask, u64 count, int type, int size,
                                 double* sums, u64* counts) {
  // The difference that no right result has: of an output's usual element, since one that is near zero by cancellation
  // may be off by any share of itself.
  const double usual = 0.03125 * sqrt(sums[1] / count);
  double difference = 0;
  u64 classes = 0, unwritten = 0;
  for (u64 i = Index(); i < count; i += Stride()) {
    const double o = Load(original, i, type), c = Load(candidate, i, type);
    if (ClassOf(o) != ClassOf(c)) ++classes;
    else if (ClassOf(o) == 0) difference += (c - o) * (c - o);
    if (poison) {
      u64 expected = 0;
      for (int b = 0; b < size; ++b) {
        const u64 at = i * size + b;
        expected |= (u64)(u8)(poison[at] ^ (u8)(mask >> (8 * (at & 3)))) << (8 * b);
      }
      // By chance a correct value may equal the poison: among millions of 16-bit elements some do. A value near the
      // original does not count. What is not written is near it in few pairs alone: each has another poison.
      const bool near =
          ClassOf(o) == 0 && ClassOf(c) == 0 && fabs(c - o) <= fmax(usual, 0.03125 * fmax(fabs(o), fabs(c)));
      if (!near && Bits(candidate, i, size) == expected && Bits(original, i, size) != expected) ++unwritten;
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    difference += __shfl_down_sync(0xffffffffu, difference, offset);
    classes += __shfl_down_sync(0xffffffffu, classes, offset);
    unwritten += __shfl_down_sync(0xffffffffu, unwritten, offset);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sums[0], difference);
    if (classes) atomicAdd(&counts[0], classes);
    if (unwritten) atomicAdd(&counts[1], unwritten);
  }
}
