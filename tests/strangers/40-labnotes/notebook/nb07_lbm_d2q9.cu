// Lattice Boltzmann, D2Q9, one BGK step on a periodic box with walls: pull, bounce back, collide.
// Populations are nine planes [9][H][W]; type 0 is a wall, everything else is fluid.
#include <cuda_runtime.h>

__constant__ int EX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int EY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ int OPPOSITE[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant__ float WEIGHT[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

__global__ void lbm_kernel(const float* fin, const unsigned char* type, float* fout, float* rho_out, int H, int W, float omega) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    size_t plane = (size_t)H * W;
    size_t here = (size_t)y * W + x;

    if (type[here] == 0) {
        for (int i = 0; i < 9; i++) fout[i * plane + here] = fin[i * plane + here];
        rho_out[here] = 0.0f;
        return;
    }

    float f[9];
    float rho = 0.0f, mx = 0.0f, my = 0.0f;
    for (int i = 0; i < 9; i++) {
        int sx = x - EX[i];
        int sy = y - EY[i];
        if (sx < 0) sx += W;
        if (sx >= W) sx -= W;
        if (sy < 0) sy += H;
        if (sy >= H) sy -= H;
        size_t there = (size_t)sy * W + sx;
        if (type[there] == 0)
            f[i] = fin[OPPOSITE[i] * plane + here];
        else
            f[i] = fin[i * plane + there];
        rho += f[i];
        mx += f[i] * EX[i];
        my += f[i] * EY[i];
    }

    float ux = mx / rho;
    float uy = my / rho;
    float uu = 1.5f * (ux * ux + uy * uy);
    for (int i = 0; i < 9; i++) {
        float eu = 3.0f * (EX[i] * ux + EY[i] * uy);
        float eq = WEIGHT[i] * rho * (1.0f + eu + 0.5f * eu * eu - uu);
        fout[i * plane + here] = f[i] - omega * (f[i] - eq);
    }
    rho_out[here] = rho;
}

void lbm_step(const float* fin, const unsigned char* type, float* fout, float* rho, int H, int W, float omega) {
    dim3 block(64, 4);
    dim3 grid((W + 63) / 64, (H + 3) / 4);
    lbm_kernel<<<grid, block>>>(fin, type, fout, rho, H, W, omega);
}
