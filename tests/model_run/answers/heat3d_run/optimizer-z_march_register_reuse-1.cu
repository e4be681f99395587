extern "C" void heat3d_run(const float* u0, const float* kappa, float* out, float* tmp, int nx, int ny, int nz,
                           int steps, float dt, cudaStream_t stream)
{
    if (nx <= 0 || ny <= 0 || nz <= 0 || steps < 0) return;
    if (steps == 0) {
        cudaMemcpyAsync(out, u0, (size_t)nx * ny * nz * sizeof(float), cudaMemcpyDeviceToDevice, stream);
        return;
    }
    const dim3 block(32, 4, 2);
    const dim3 grid((nx + 31) / 32, (ny + 3) / 4, (nz + 1) / 2);
    const float* src = u0;
    const bool vec = nx % 4 == 0 && (((size_t)u0 | (size_t)kappa | (size_t)out | (size_t)tmp) & 15) == 0;
    const long long xt = ((long long)nx + 63) / 64, yt = ((long long)ny + 15) / 16;
    const long long want = xt * yt < @BLOCKS@ ? @BLOCKS@ / (xt * yt) : 1;
    long long chunk = (nz + want - 1) / want;
    if (chunk < 8) chunk = 8;
    const long long zt = (nz + chunk - 1) / chunk;
    for (int s = 0; s < steps; s++) {
        float* dst = (steps - 1 - s) % 2 == 0 ? out : tmp;
        if (vec && src != dst && kappa != dst)
            heat_march<<<(unsigned)(xt * yt * zt), 256, 0, stream>>>(src, kappa, dst, nx, ny, nz, dt, (int)xt, (int)yt,
                                                                     (int)chunk);
        else
            heat_step<<<grid, block, 0, stream>>>(src, kappa, dst, nx, ny, nz, dt);
        src = dst;
    }
}