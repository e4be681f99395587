// Post-processing and pooling for a two-stage detector.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// ------------------------------------------------------------------------------------------------
// Suppression mask. Boxes are (cx, cy, w, h), sorted by score by the caller. Bit i of mask[b][word] says that box
// 32 * word + i overlaps with box b and comes after it; the host walks the mask afterwards.

static const int kBits = 32;

__device__ inline float box_iou(const float* a, const float* b)
{
    const float ax0 = a[0] - 0.5f * a[2], ax1 = a[0] + 0.5f * a[2];
    const float ay0 = a[1] - 0.5f * a[3], ay1 = a[1] + 0.5f * a[3];
    const float bx0 = b[0] - 0.5f * b[2], bx1 = b[0] + 0.5f * b[2];
    const float by0 = b[1] - 0.5f * b[3], by1 = b[1] + 0.5f * b[3];
    const float w = fmaxf(fminf(ax1, bx1) - fmaxf(ax0, bx0), 0.f);
    const float h = fmaxf(fminf(ay1, by1) - fmaxf(ay0, by0), 0.f);
    const float inter = w * h;
    return inter / (a[2] * a[3] + b[2] * b[3] - inter);
}

__global__ void nms_mask_kernel(const float* __restrict__ boxes, unsigned int* __restrict__ mask, int n, float thresh)
{
    const int row_block = blockIdx.y;
    const int col_block = blockIdx.x;
    const int row_size = min(n - row_block * kBits, kBits);
    const int col_size = min(n - col_block * kBits, kBits);

    __shared__ float cols[kBits * 4];
    if (threadIdx.x < col_size) {
        const float* src = boxes + (size_t)(col_block * kBits + threadIdx.x) * 4;
        cols[threadIdx.x * 4 + 0] = src[0];
        cols[threadIdx.x * 4 + 1] = src[1];
        cols[threadIdx.x * 4 + 2] = src[2];
        cols[threadIdx.x * 4 + 3] = src[3];
    }
    __syncthreads();

    if (threadIdx.x < row_size) {
        const int row = row_block * kBits + threadIdx.x;
        const float mine[4] = {boxes[(size_t)row * 4 + 0], boxes[(size_t)row * 4 + 1], boxes[(size_t)row * 4 + 2],
                               boxes[(size_t)row * 4 + 3]};
        unsigned int bits = 0;
        if (col_block >= row_block) {
            int first = row_block == col_block ? threadIdx.x + 1 : 0;
            for (int i = first; i < col_size; i++) {
                if (box_iou(mine, cols + i * 4) > thresh) bits |= 1u << i;
            }
        }
        mask[(size_t)row * gridDim.x + col_block] = bits;
    }
}

cudaError_t nms_overlap_mask(const float* boxes, unsigned int* mask, int n, float thresh, cudaStream_t stream)
{
    const int blocks = (n + kBits - 1) / kBits;
    if (blocks > 65535) return cudaErrorInvalidValue;
    nms_mask_kernel<<<dim3(blocks, blocks), kBits, 0, stream>>>(boxes, mask, n, thresh);
    return cudaGetLastError();
}

// ------------------------------------------------------------------------------------------------
// RoIAlign of half precision feature maps. Regions are (x0, y0, x1, y1) in units of the image, 0 to 1.

__device__ float sample_bilinear(const __half* plane, int height, int width, float y, float x)
{
    if (y < -1.0f || y > (float)height || x < -1.0f || x > (float)width) return 0.f;
    if (!(y > 0.f)) y = 0.f;
    if (!(x > 0.f)) x = 0.f;

    int y_lo = (int)y;
    int x_lo = (int)x;
    int y_hi, x_hi;
    if (y_lo >= height - 1) {
        y_hi = y_lo = height - 1;
        y = (float)y_lo;
    } else {
        y_hi = y_lo + 1;
    }
    if (x_lo >= width - 1) {
        x_hi = x_lo = width - 1;
        x = (float)x_lo;
    } else {
        x_hi = x_lo + 1;
    }

    const float ly = y - y_lo, lx = x - x_lo;
    const float hy = 1.f - ly, hx = 1.f - lx;
    return hy * hx * __half2float(plane[y_lo * width + x_lo]) + hy * lx * __half2float(plane[y_lo * width + x_hi]) +
           ly * hx * __half2float(plane[y_hi * width + x_lo]) + ly * lx * __half2float(plane[y_hi * width + x_hi]);
}

__global__ void roi_align_kernel(int total, const __half* __restrict__ feat, const float* __restrict__ rois,
                                 const int* __restrict__ roi_image, __half* __restrict__ out, int channels, int height,
                                 int width, int pooled, int samples)
{
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < total; index += blockDim.x * gridDim.x) {
        const int pw = index % pooled;
        const int ph = (index / pooled) % pooled;
        const int c = (index / pooled / pooled) % channels;
        const int r = index / pooled / pooled / channels;

        const float* roi = rois + (size_t)r * 4;
        const float x0 = roi[0] * width - 0.5f;
        const float y0 = roi[1] * height - 0.5f;
        const float roi_w = fmaxf(roi[2] * width - 0.5f - x0, 1.f);
        const float roi_h = fmaxf(roi[3] * height - 0.5f - y0, 1.f);
        const float bin_w = roi_w / pooled;
        const float bin_h = roi_h / pooled;

        const __half* plane = feat + ((size_t)roi_image[r] * channels + c) * height * width;
        float sum = 0.f;
        for (int iy = 0; iy < samples; iy++) {
            const float y = y0 + ph * bin_h + (iy + 0.5f) * bin_h / samples;
            for (int ix = 0; ix < samples; ix++) {
                const float x = x0 + pw * bin_w + (ix + 0.5f) * bin_w / samples;
                sum += sample_bilinear(plane, height, width, y, x);
            }
        }
        out[index] = __float2half(sum / (samples * samples));
    }
}

cudaError_t roi_align_forward_half(const __half* feat, const float* rois, const int* roi_image, __half* out,
                                   int images, int channels, int height, int width, int num_rois, int pooled,
                                   int samples, cudaStream_t stream)
{
    if (images <= 0 || pooled <= 0 || samples <= 0) return cudaErrorInvalidValue;
    const long long total = (long long)num_rois * channels * pooled * pooled;
    if (total == 0) return cudaSuccess;
    if (total > 2000000000LL) return cudaErrorInvalidValue;
    int blocks = (int)((total + 255) / 256);
    if (blocks > 4096) blocks = 4096;
    roi_align_kernel<<<blocks, 256, 0, stream>>>((int)total, feat, rois, roi_image, out, channels, height, width,
                                                 pooled, samples);
    return cudaGetLastError();
}
