const int PRIME_SEGMENT = @SEG@;    // numbers a block, a multiple of 32
const int PRIME_THREADS = @T@;      // at least PRIME_SEGMENT / 32

// where in the segment that begins with lo the odd multiples of the odd d begin, from d * d on
__device__ __forceinline__ int firstMultiple(unsigned d, long long lo)
{
    unsigned m = d * d;
    if (lo > (long long)m) {
        const unsigned l = (unsigned)lo;
        m = l / d * d;
        if (m < l) m += d;
        if ((m & 1u) == 0) m += d;
    }
    return (int)((long long)m - lo);
}

// multiples of 3, 5 and 7 need no striking of their own
__device__ __forceinline__ bool skipDivisor(unsigned d)
{
    return d > 7 && (d % 3 == 0 || d % 5 == 0 || d % 7 == 0);
}

// sieve of one segment: bit j says that the number lo + j is odd and composite
__global__ void __launch_bounds__(PRIME_THREADS) primeKernel(int *isPrime, int start, int n)
{
    __shared__ unsigned bits[PRIME_SEGMENT / 32];
    const size_t base = (size_t)blockIdx.x * PRIME_SEGMENT;
    const int len = (int)min((size_t)PRIME_SEGMENT, (size_t)n - base);
    const long long lo = (long long)start + (long long)base;
    // numbers above INT_MAX wrap to negative ones
    const long long end = min(lo + len - 1, 2147483647LL);

    if (threadIdx.x < PRIME_SEGMENT / 32) bits[threadIdx.x] = 0;
    __syncthreads();
    if (end >= 9 && lo <= end) {
        const unsigned hi = (unsigned)end;
        const int count = (int)(end - lo) + 1;
        const int lane = threadIdx.x & 31;
        // small divisors: a warp each
        for (unsigned d = 3 + 2 * (threadIdx.x >> 5); d < 131 && d * d <= hi; d += 2 * (PRIME_THREADS / 32))
            if (!skipDivisor(d))
                for (int j = firstMultiple(d, lo) + lane * 2 * (int)d; j < count; j += 64 * (int)d)
                    atomicOr(&bits[j >> 5], 1u << (j & 31));
        // the others: a thread each
        for (unsigned d = 131 + 2 * threadIdx.x; d * d <= hi; d += 2 * PRIME_THREADS)
            if (!skipDivisor(d))
                for (int j = firstMultiple(d, lo); j < count; j += 2 * (int)d)
                    atomicOr(&bits[j >> 5], 1u << (j & 31));
    }
    __syncthreads();
    for (int j = threadIdx.x; j < len; j += PRIME_THREADS) {
        const long long number = lo + j;
        const bool struck = ((bits[j >> 5] >> (j & 31)) & 1u) != 0;
        isPrime[base + j] = number > 1 && number <= 2147483647LL && (number == 2 || ((number & 1) != 0 && !struck));
    }
}
