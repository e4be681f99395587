// One step of a ConvLSTM (nowcasting): four gates from a 3 x 3 convolution over [x, h], then the cell.
// x: [N][Cx][H][W]  h, c: [N][Ch][H][W]  w: [4][Ch][Cx + Ch][3][3]  b: [4][Ch]; gates in the order i, f, o, g. c is updated in place.
#include <cuda_runtime.h>

struct Step {
    int N, Cx, Ch, H, W;
};

__device__ static float sigmoid(float v)
{
    return 1.0f / (1.0f + expf(-v));
}

__device__ static float conv_plane(const float *plane, const float *w, int y, int x, const Step &s)
{
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            int yy = y + dy, xx = x + dx;
            if (yy >= 0 && yy < s.H && xx >= 0 && xx < s.W)
                sum += plane[yy * s.W + xx] * w[(dy + 1) * 3 + dx + 1];
        }
    return sum;
}

__global__ void gates_kernel(const float *x, const float *h, const float *w, const float *b, float *gates, Step s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int P = s.H * s.W;
    if (i >= s.N * 4 * s.Ch * P)
        return;
    int p = i % P;
    int g = i / P % (4 * s.Ch);
    int n = i / P / (4 * s.Ch);
    const float *filter = w + (size_t)g * (s.Cx + s.Ch) * 9;

    float sum = b[g];
    for (int c = 0; c < s.Cx; ++c)
        sum += conv_plane(x + ((size_t)n * s.Cx + c) * P, filter + c * 9, p / s.W, p % s.W, s);
    for (int c = 0; c < s.Ch; ++c)
        sum += conv_plane(h + ((size_t)n * s.Ch + c) * P, filter + (s.Cx + c) * 9, p / s.W, p % s.W, s);
    gates[i] = sum;
}

__global__ void cell_kernel(const float *gates, float *c, float *h_new, Step s)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int per_image = s.Ch * s.H * s.W;
    if (j >= s.N * per_image)
        return;
    int n = j / per_image;
    int k = j % per_image;
    const float *g = gates + (size_t)n * 4 * per_image + k;
    float i = sigmoid(g[0]);
    float f = sigmoid(g[per_image]);
    float o = sigmoid(g[2 * (size_t)per_image]);
    float u = tanhf(g[3 * (size_t)per_image]);
    float cell = f * c[j] + i * u;
    c[j] = cell;
    h_new[j] = o * tanhf(cell);
}

void convlstm_step(const float *x, const float *h, const float *w, const float *b, float *gates, float *c, float *h_new, int N,
                   int Cx, int Ch, int H, int W)
{
    Step s = {N, Cx, Ch, H, W};
    int total = N * 4 * Ch * H * W;
    gates_kernel<<<(total + 255) / 256, 256>>>(x, h, w, b, gates, s);
    cell_kernel<<<(N * Ch * H * W + 255) / 256, 256>>>(gates, c, h_new, s);
}
