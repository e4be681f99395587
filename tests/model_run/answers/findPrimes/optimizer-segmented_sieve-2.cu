void findPrimes(int *isPrime, int start, int n)
{
    int blocks = n > 0 ? (n - 1) / PRIME_SEGMENT + 1 : 0;
    primeKernel<<<blocks, PRIME_THREADS>>>(isPrime, start, n);
}
