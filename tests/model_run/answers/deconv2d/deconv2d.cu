extern "C" void deconv2d(const float *input, const float *weights, float *output, int batch, int c, int h, int w, int n, int size, int stride)
{
    int out_h = (h - 1)*stride + size;
    int out_w = (w - 1)*stride + size;
    int tiles = (((out_h + stride - 1)/stride)*((out_w + stride - 1)/stride) + 127)/128;
    int phases = batch*stride*stride;
    if(tiles*phases*((n + 15)/16) >= 264)
        deconv_kernel<16><<<tiles*phases*((n + 15)/16), 128>>>(input, weights, output, c, h, w, n, size, stride, out_h, out_w, tiles);
    else
        deconv_kernel<4><<<tiles*phases*((n + 3)/4), 128>>>(input, weights, output, c, h, w, n, size, stride, out_h, out_w, tiles);
}
