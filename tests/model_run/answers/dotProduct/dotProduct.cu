void dotProduct(float *a, float *b, float *c, int n) {
    int blocks = (n + 4095) / 4096;
    if (blocks > 1056) blocks = 1056;
    if (blocks < 1) blocks = 1;
    if (blocks > 1) cudaMemset(c, 0, sizeof(float));
    dot<<<blocks, 256>>>(a, b, c, n);
}
