#include "cuda.h"

// input [batch][c][h][w], weights [n][c][size][size], output [batch][n][out_h][out_w]

__global__ void conv_naive_kernel(const float *input, const float *weights, const float *biases, float *output,
        int batch, int c, int h, int w, int n, int size, int stride, int pad, int out_h, int out_w)
{
    int index = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if(index >= batch*n*out_h*out_w) return;
    int x = index % out_w;
    int y = (index / out_w) % out_h;
    int f = (index / out_w / out_h) % n;
    int b = index / out_w / out_h / n;

    float sum = biases[f];
    int i, j, k;
    for(k = 0; k < c; ++k){
        for(i = 0; i < size; ++i){
            for(j = 0; j < size; ++j){
                int iy = y*stride - pad + i;
                int ix = x*stride - pad + j;
                int valid = (iy >= 0 && iy < h && ix >= 0 && ix < w);
                float val = (valid != 0) ? input[((b*c + k)*h + iy)*w + ix] : 0;
                sum += val * weights[((f*c + k)*size + i)*size + j];
            }
        }
    }
    output[index] = sum;
}

#define TILE 16

// one block: TILE x TILE pixels of one filter; the input patch of each channel goes through shared memory
__global__ void conv_tiled_kernel(const float *input, const float *weights, const float *biases, float *output,
        int c, int h, int w, int n, int size, int stride, int pad, int out_h, int out_w)
{
    extern __shared__ float patch[];
    const int side = (TILE - 1)*stride + size;
    const int f = blockIdx.z % n, b = blockIdx.z / n;
    const int x = blockIdx.x*TILE + threadIdx.x, y = blockIdx.y*TILE + threadIdx.y;
    const int x0 = blockIdx.x*TILE*stride - pad, y0 = blockIdx.y*TILE*stride - pad;
    float sum = biases[f];
    for(int k = 0; k < c; ++k){
        __syncthreads();
        for(int i = threadIdx.y*TILE + threadIdx.x; i < side*side; i += TILE*TILE){
            int iy = y0 + i/side, ix = x0 + i%side;
            patch[i] = (iy >= 0 && iy < h && ix >= 0 && ix < w) ? input[((b*c + k)*h + iy)*w + ix] : 0;
        }
        __syncthreads();
        const float *wt = weights + (f*c + k)*size*size;
        for(int i = 0; i < size; ++i)
            for(int j = 0; j < size; ++j)
                sum += patch[(threadIdx.y*stride + i)*side + threadIdx.x*stride + j] * wt[i*size + j];
    }
    if(x < out_w && y < out_h) output[((b*n + f)*out_h + y)*out_w + x] = sum;
}

// four filters per thread: an input value is read once for all of them
__global__ void conv_four_filters_kernel(const float * __restrict__ input, const float * __restrict__ weights,
        const float * __restrict__ biases, float * __restrict__ output,
        int c, int h, int w, int n, int size, int stride, int pad, int out_h, int out_w)
{
    extern __shared__ float wts[];   // [size*size][4]
    const int groups = (n + 3)/4;
    const int f0 = (blockIdx.y % groups)*4, b = blockIdx.y / groups;
    const int p = blockIdx.x*blockDim.x + threadIdx.x;
    const int x = p % out_w, y = p / out_w;
    float sum[4];
    #pragma unroll
    for(int q = 0; q < 4; ++q) sum[q] = f0 + q < n ? biases[f0 + q] : 0;
    for(int k = 0; k < c; ++k){
        __syncthreads();
        for(int i = threadIdx.x; i < size*size*4; i += blockDim.x){
            int f = f0 + i%4;
            wts[i] = f < n ? weights[(f*c + k)*size*size + i/4] : 0;
        }
        __syncthreads();
        if(p >= out_h*out_w) continue;
        const float *in = input + (b*c + k)*h*w;
        for(int i = 0; i < size; ++i){
            int iy = y*stride - pad + i;
            for(int j = 0; j < size; ++j){
                int ix = x*stride - pad + j;
                float v = (iy >= 0 && iy < h && ix >= 0 && ix < w) ? __ldg(in + iy*w + ix) : 0;
                float4 t = ((const float4 *)wts)[i*size + j];
                sum[0] += v*t.x;
                sum[1] += v*t.y;
                sum[2] += v*t.z;
                sum[3] += v*t.w;
            }
        }
    }
    if(p >= out_h*out_w) return;
    #pragma unroll
    for(int q = 0; q < 4; ++q)
        if(f0 + q < n) output[(b*n + f0 + q)*out_h*out_w + p] = sum[q];
}

extern "C" void conv2d_naive(const float *input, const float *weights, const float *biases, float *output,
        int batch, int c, int h, int w, int n, int size, int stride, int pad)
{
    int out_h = (h + 2*pad - size)/stride + 1;
    int out_w = (w + 2*pad - size)/stride + 1;
    conv_naive_kernel<<<cuda_gridsize(batch*n*out_h*out_w), BLOCK>>>(input, weights, biases, output, batch, c, h, w, n, size, stride, pad, out_h, out_w);
}

extern "C" void conv2d_tiled(const float *input, const float *weights, const float *biases, float *output,
        int batch, int c, int h, int w, int n, int size, int stride, int pad)
{
    int out_h = (h + 2*pad - size)/stride + 1;
    int out_w = (w + 2*pad - size)/stride + 1;
    int side = (TILE - 1)*stride + size;
    if(side*side*sizeof(float) > 48*1024){   // does not fit: large filters, large strides
        conv2d_naive(input, weights, biases, output, batch, c, h, w, n, size, stride, pad);
        return;
    }
    dim3 grid((out_w + TILE - 1)/TILE, (out_h + TILE - 1)/TILE, batch*n);
    conv_tiled_kernel<<<grid, dim3(TILE, TILE), side*side*sizeof(float)>>>(input, weights, biases, output, c, h, w, n, size, stride, pad, out_h, out_w);
}

extern "C" void conv2d_fast(const float *input, const float *weights, const float *biases, float *output,
        int batch, int c, int h, int w, int n, int size, int stride, int pad)
{
    int out_h = (h + 2*pad - size)/stride + 1;
    int out_w = (w + 2*pad - size)/stride + 1;
    if(size*size*4*sizeof(float) > 48*1024){
        conv2d_naive(input, weights, biases, output, batch, c, h, w, n, size, stride, pad);
        return;
    }
    dim3 grid((out_h*out_w + 127)/128, batch*((n + 3)/4));
    conv_four_filters_kernel<<<grid, 128, size*size*4*sizeof(float)>>>(input, weights, biases, output, c, h, w, n, size, stride, pad, out_h, out_w);
}

// groups, bias, relu: filter f sees channels [g*c/groups, (g+1)*c/groups)
__global__ void grouped_conv_bias_relu_kernel(const float *input, const float *weights, const float *biases, float *output,
        int total, int c, int h, int w, int n, int groups, int size, int dilation, int out_h, int out_w)
{
    int index = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if(index >= total) return;
    int x = index % out_w;
    int y = (index / out_w) % out_h;
    int f = (index / out_w / out_h) % n;
    int b = index / out_w / out_h / n;
    int cg = c/groups, g = f/(n/groups);
    float sum = biases[f];
    for(int k = 0; k < cg; ++k)
        for(int i = 0; i < size; ++i)
            for(int j = 0; j < size; ++j)
                sum += input[((b*c + g*cg + k)*h + y + i*dilation)*w + x + j*dilation] * weights[((f*cg + k)*size + i)*size + j];
    output[index] = sum > 0 ? sum : 0;
}

extern "C" void grouped_conv_bias_relu(const float *input, const float *weights, const float *biases, float *output,
        int batch, int c, int h, int w, int n, int groups, int size, int dilation)
{
    int out_h = h - dilation*(size - 1);
    int out_w = w - dilation*(size - 1);
    int total = batch*n*out_h*out_w;
    grouped_conv_bias_relu_kernel<<<cuda_gridsize(total), BLOCK>>>(input, weights, biases, output, total, c, h, w, n, groups, size, dilation, out_h, out_w);
}

// transposed convolution as a gather; weights [c][n][size][size]
__global__ void deconv_kernel(const float *input, const float *weights, float *output, int total,
        int c, int h, int w, int n, int size, int stride, int out_h, int out_w)
{
    int index = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if(index >= total) return;
    int x = index % out_w;
    int y = (index / out_w) % out_h;
    int f = (index / out_w / out_h) % n;
    int b = index / out_w / out_h / n;
    float sum = 0;
    for(int i = 0; i < size; ++i){
        if((y - i) < 0 || (y - i) % stride) continue;
        int iy = (y - i)/stride;
        if(iy >= h) continue;
        for(int j = 0; j < size; ++j){
            if((x - j) < 0 || (x - j) % stride) continue;
            int ix = (x - j)/stride;
            if(ix >= w) continue;
            for(int k = 0; k < c; ++k)
                sum += input[((b*c + k)*h + iy)*w + ix] * weights[((k*n + f)*size + i)*size + j];
        }
    }
    output[index] = sum;
}

extern "C" void deconv2d(const float *input, const float *weights, float *output, int batch, int c, int h, int w, int n, int size, int stride)
{
    int out_h = (h - 1)*stride + size;
    int out_w = (w - 1)*stride + size;
    int total = batch*n*out_h*out_w;
    deconv_kernel<<<cuda_gridsize(total), BLOCK>>>(input, weights, output, total, c, h, w, n, size, stride, out_h, out_w);
}

// causal 1D convolution with dilation: y[b][o][t] = sum w[o][i][k] x[b][i][t - k*dilation]
__global__ void conv1d_kernel(const float *x, const float *wt, float *y, int cin, int cout, int t, int ksize, int dilation)
{
    int o = blockIdx.y, b = blockIdx.z;
    int i = blockIdx.x*blockDim.x + threadIdx.x;
    if(i >= t) return;
    float sum = 0;
    for(int ci = 0; ci < cin; ++ci)
        for(int k = 0; k < ksize; ++k){
            int s = i - k*dilation;
            if(s >= 0) sum += wt[(o*cin + ci)*ksize + k] * x[(b*cin + ci)*t + s];
        }
    y[(b*cout + o)*t + i] = sum;
}

extern "C" void conv1d_causal(const float *x, const float *wt, float *y, int batch, int cin, int cout, int t, int ksize, int dilation)
{
    conv1d_kernel<<<dim3((t + 63)/64, cout, batch), 64>>>(x, wt, y, cin, cout, t, ksize, dilation);
}
