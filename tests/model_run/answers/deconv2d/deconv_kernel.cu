// transposed convolution as a gather; weights [c][n][size][size]. A block: pixels of one phase, which have the same taps,
// and F filters.
template <int F>
__global__ void __launch_bounds__(128) deconv_kernel(const float * __restrict__ input, const float * __restrict__ weights,
        float * __restrict__ output, int c, int h, int w, int n, int size, int stride, int out_h, int out_w, int tiles)
{
    constexpr int kChunk = 64;
    __shared__ float ws[kChunk][F];
    const int groups = (n + F - 1)/F, block = blockIdx.x / groups;   // all in gridDim.x: n may be more than gridDim.y takes
    const int phase = block / tiles % (stride*stride), b = block / tiles / (stride*stride);
    const int ry = phase / stride, rx = phase % stride;
    const int ph = (out_h - ry + stride - 1)/stride, pw = (out_w - rx + stride - 1)/stride;
    const int f0 = blockIdx.x % groups * F;
    const int p0 = block % tiles * blockDim.x, p = p0 + threadIdx.x;
    if(p0 >= ph*pw) return;
    const int py = p / pw, px = p % pw;
    float sum[F];
    #pragma unroll
    for(int f = 0; f < F; ++f) sum[f] = 0;
    for(int i = ry; i < size; i += stride){
        const int iy = py - (i - ry)/stride;
        for(int j = rx; j < size; j += stride){
            const int ix = px - (j - rx)/stride;
            const bool valid = p < ph*pw && iy >= 0 && iy < h && ix >= 0 && ix < w;
            for(int k0 = 0; k0 < c; k0 += kChunk){
                const int ks = min(kChunk, c - k0);
                __syncthreads();
                for(int e = threadIdx.x; e < ks*F; e += blockDim.x){
                    const int k = e/F, f = e % F;
                    ws[k][f] = f0 + f < n ? weights[(((size_t)(k0 + k)*n + f0 + f)*size + i)*size + j] : 0;
                }
                __syncthreads();
                if(!valid) continue;
                const float *in = input + (((size_t)b*c + k0)*h + iy)*w + ix;
                #pragma unroll 4
                for(int k = 0; k < ks; ++k){
                    const float v = in[(size_t)k*h*w];
                    #pragma unroll
                    for(int f = 0; f < F; ++f) sum[f] += v*ws[k][f];
                }
            }
        }
    }
    if(p >= ph*pw) return;
    #pragma unroll
    for(int f = 0; f < F; ++f)
        if(f0 + f < n) output[(((size_t)b*n + f0 + f)*out_h + py*stride + ry)*out_w + px*stride + rx] = sum[f];
}
