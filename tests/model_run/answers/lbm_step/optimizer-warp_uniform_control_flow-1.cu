// Rows that a thread computes, one below the other.
constexpr int LBM_ROWS = @ROWS@;

// Every population takes one load whose address is selected: the source cell, the opposite population of this
// cell where the source is a wall, the same population of this cell where this cell is a wall.
__global__ void __launch_bounds__(256, @BLOCKS@) lbm_select_kernel(const float* __restrict__ fin, const unsigned char* __restrict__ type, float* __restrict__ fout, float* __restrict__ rho_out, int H, int W, int tilesX, float omega) {
    constexpr int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
    constexpr int ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    constexpr int opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
    constexpr float weight[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

    int tx = blockIdx.x % (unsigned)tilesX;
    int ty = blockIdx.x / (unsigned)tilesX;
    int x = tx * 64 + threadIdx.x;
    int y0 = (ty * 4 + threadIdx.y) * LBM_ROWS;
    if (x >= W || y0 >= H) return;
    size_t plane = (size_t)H * W;

    // Columns x - 1 to x + 1 and rows y0 - 1 to y0 + LBM_ROWS, wrapped; rows beyond those are valid, but unused.
    unsigned col[3] = {unsigned(x == 0 ? W - 1 : x - 1), unsigned(x), unsigned(x + 1 == W ? 0 : x + 1)};
    size_t row[LBM_ROWS + 2];
    #pragma unroll
    for (int r = 0; r < LBM_ROWS + 2; r++) {
        int y = y0 + r - 1;
        row[r] = (size_t)(y < 0 ? H - 1 : y >= H ? 0 : y) * W;
    }

    bool wall[LBM_ROWS + 2][3];
    #pragma unroll
    for (int r = 0; r < LBM_ROWS + 2; r++) {
        #pragma unroll
        for (int c = 0; c < 3; c++) wall[r][c] = type[row[r] + col[c]] == 0;
    }

    float f[LBM_ROWS][9];
    #pragma unroll
    for (int k = 0; k < LBM_ROWS; k++) {
        size_t here = row[k + 1] + x;
        bool self = wall[k + 1][1];
        f[k][0] = fin[here];
        #pragma unroll
        for (int i = 1; i < 9; i++) {
            size_t there = row[k + 1 - ey[i]] + col[1 - ex[i]];
            bool bounce = wall[k + 1 - ey[i]][1 - ex[i]];
            size_t from = bounce && !self ? opposite[i] * plane : i * plane;
            f[k][i] = fin[from + (bounce || self ? here : there)];
        }
    }

    #pragma unroll
    for (int k = 0; k < LBM_ROWS; k++) {
        if (y0 + k < H) {
            size_t here = row[k + 1] + x;
            bool self = wall[k + 1][1];
            float rho = 0.0f, mx = 0.0f, my = 0.0f;
            #pragma unroll
            for (int i = 0; i < 9; i++) {
                rho += f[k][i];
                mx += f[k][i] * (float)ex[i];
                my += f[k][i] * (float)ey[i];
            }

            float ux = mx / rho;
            float uy = my / rho;
            float uu = 1.5f * (ux * ux + uy * uy);
            #pragma unroll
            for (int i = 0; i < 9; i++) {
                float eu = 3.0f * ((float)ex[i] * ux + (float)ey[i] * uy);
                float eq = weight[i] * rho * (1.0f + eu + 0.5f * eu * eu - uu);
                float out = f[k][i] - omega * (f[k][i] - eq);
                fout[i * plane + here] = self ? f[k][i] : out;
            }
            rho_out[here] = self ? 0.0f : rho;
        }
    }
}

void lbm_step(const float* fin, const unsigned char* type, float* fout, float* rho, int H, int W, float omega) {
    int tilesX = (W + 63) / 64;
    int tilesY = (H + 4 * LBM_ROWS - 1) / (4 * LBM_ROWS);
    dim3 block(64, 4);
    dim3 grid((unsigned)tilesX * (unsigned)tilesY);
    lbm_select_kernel<<<grid, block>>>(fin, type, fout, rho, H, W, tilesX, omega);
}