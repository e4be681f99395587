// The convolution as a product: filters [n][c*size*size] by patches [c*size*size][batch*out_h*out_w], which are gathered
// into shared memory. A thread holds TM x TN results.
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM/TM)*(BN/TN)) conv_product_kernel(const float * __restrict__ input, const float * __restrict__ weights,
        const float * __restrict__ biases, float * __restrict__ output,
        int batch, int c, int h, int w, int n, int size, int stride, int pad, int out_h, int out_w)
{
    constexpr int kThreads = (BM/TM)*(BN/TN);
    constexpr int kStep = kThreads/BN;   // rows of the patch tile that are loaded at once
    constexpr int kVM = TM < 4 ? TM : 4, kVN = TN < 4 ? TN : 4;
    __shared__ __align__(16) float ws[BK][BM + 4];
    __shared__ __align__(16) float ps[BK][BN];
    const int pixels = out_h*out_w, total = batch*pixels, taps = c*size*size;
    const int tiles = (total + BN - 1)/BN;   // all in gridDim.x: there may be more filters than gridDim.y takes
    const int f0 = blockIdx.x/tiles*BM, p0 = blockIdx.x%tiles*BN;
    const int tx = threadIdx.x % (BN/TN), ty = threadIdx.x / (BN/TN);

    // the pixel whose patch this thread loads, and the tap it is at
    const int lp = threadIdx.x % BN;
    const int p = p0 + lp;
    const int b = p/pixels, y = p % pixels / out_w, x = p % out_w;
    const float *in = input + (size_t)b*c*h*w;
    int ch = 0, i = 0, j = threadIdx.x/BN;
    while(taps > 0 && j >= size){   // a filter of size 0 has no taps
        j -= size;
        if(++i == size){ i = 0; ++ch; }
    }

    float sum[TM][TN];
    #pragma unroll
    for(int m = 0; m < TM; ++m){
        const int f = f0 + (m/kVM)*(BM/(TM/kVM)) + ty*kVM + m % kVM;
        #pragma unroll
        for(int q = 0; q < TN; ++q) sum[m][q] = f < n ? biases[f] : 0;
    }
    for(int k0 = 0; k0 < taps; k0 += BK){
        for(int k = threadIdx.x/BN; k < BK; k += kStep){
            const int iy = y*stride - pad + i, ix = x*stride - pad + j;
            const bool valid = p < total && k0 + k < taps && iy >= 0 && iy < h && ix >= 0 && ix < w;
            ps[k][lp] = valid ? in[((size_t)ch*h + iy)*w + ix] : 0;
            j += kStep;
            while(j >= size){
                j -= size;
                if(++i == size){ i = 0; ++ch; }
            }
        }
        for(int e = threadIdx.x; e < BM*BK; e += kThreads)
            ws[e % BK][e/BK] = f0 + e/BK < n && k0 + e % BK < taps ? weights[(size_t)(f0 + e/BK)*taps + k0 + e % BK] : 0;
        __syncthreads();
        #pragma unroll
        for(int k = 0; k < BK; ++k){
            float wm[TM], pn[TN];
            #pragma unroll
            for(int m = 0; m < TM; ++m) wm[m] = ws[k][(m/kVM)*(BM/(TM/kVM)) + ty*kVM + m % kVM];
            #pragma unroll
            for(int q = 0; q < TN; ++q) pn[q] = ps[k][(q/kVN)*(BN/(TN/kVN)) + tx*kVN + q % kVN];
            #pragma unroll
            for(int m = 0; m < TM; ++m)
                #pragma unroll
                for(int q = 0; q < TN; ++q) sum[m][q] += pn[q]*wm[m];
        }
        __syncthreads();
    }
    #pragma unroll
    for(int q = 0; q < TN; ++q){
        const int at = p0 + (q/kVN)*(BN/(TN/kVN)) + tx*kVN + q % kVN;
        if(at >= total) continue;
        float *out = output + (size_t)(at/pixels)*n*pixels + at % pixels;
        #pragma unroll
        for(int m = 0; m < TM; ++m){
            const int f = f0 + (m/kVM)*(BM/(TM/kVM)) + ty*kVM + m % kVM;
            if(f < n) out[(size_t)f*pixels] = sum[m][q];
        }
    }
}

extern "C" void conv2d_naive(const float *input, const float *weights, const float *biases, float *output,
        int batch, int c, int h, int w, int n, int size, int stride, int pad)
{
    int out_h = (h + 2*pad - size)/stride + 1;
    int out_w = (w + 2*pad - size)/stride + 1;
    int total = batch*out_h*out_w;
    if(((total + 127)/128)*((n + 63)/64) >= 132 && n > 32)
        conv_product_kernel<64, 128, 8, 8, 8><<<(total + 127)/128*((n + 63)/64), 128>>>(input, weights, biases, output, batch, c, h, w, n, size, stride, pad, out_h, out_w);
    else if(((total + 63)/64)*((n + 31)/32) >= 132 && n > 16)
        conv_product_kernel<32, 64, 16, 4, 4><<<(total + 63)/64*((n + 31)/32), 128>>>(input, weights, biases, output, batch, c, h, w, n, size, stride, pad, out_h, out_w);
    else
        conv_product_kernel<16, 32, 16, 2, 2><<<(total + 31)/32*((n + 15)/16), 128>>>(input, weights, biases, output, batch, c, h, w, n, size, stride, pad, out_h, out_w);
}
