extern "C" int argmax_dim1(const __half *x, long long *idx, int B, int M, int N)
{
    /* tiles of equal width, none of them empty */
    int tiles = N > 0 ? (N - 1) / COLS + 1 : 0;
    int T = N > 0 ? (N - 1) / tiles + 1 : 1;
    if (N > 0) tiles = (N - 1) / T + 1;
    argmax_k<<<(unsigned)((size_t)tiles * B), TPB>>>(x, idx, B, M, N, tiles, T);
    return (int)cudaGetLastError();
}