/* A block makes 128 x (8 * kRows) outputs from a tile with replicated edges, a lane four neighbours of a row.
   ks and kr are the factors of the two squares in the exponent, times log2(e). */
template <int R>
__global__ void __launch_bounds__(256, @MINB@) bilateral_tile(const float *__restrict__ src, float *__restrict__ dst,
                                                         int w, int h, int tilesX, float ks, float kr)
{
    constexpr int kRows = @ROWS@, kHeight = 8 * kRows + 2 * R, kVecs = (4 + 2 * R + 3) / 4, kPitch = 124 + 4 * kVecs;
    __shared__ __align__(16) float s[kHeight][kPitch];

    const int lane = threadIdx.x & 31, wi = threadIdx.x >> 5;
    const int x0 = (int)(blockIdx.x % tilesX) * 128, y0 = (int)(blockIdx.x / tilesX) * (8 * kRows);
    const int right = w - 1 - x0, below = h - 1 - y0; /* distances to the last column and row */

    for (int j = wi; j < kHeight; j += 8) {
        const float *row = src + (size_t)(y0 + max(min(j - R, below), -y0)) * w;
#pragma unroll
        for (int i = lane; i < kPitch; i += 32)
            s[j][i] = row[x0 + max(min(i - R, right), -x0)];
    }
    __syncthreads();

#pragma unroll 1
    for (int rr = 0; rr < kRows; rr++) {
        const int ly = wi + 8 * rr; /* row of the tile */
        if (ly > below)
            break;
        float c[4], sum[4], norm[4];
#pragma unroll
        for (int o = 0; o < 4; o++) {
            c[o] = s[ly + R][4 * lane + R + o];
            sum[o] = 0.0f;
            norm[o] = 0.0f;
        }
#pragma unroll 1
        for (int dy = -R; dy <= R; dy++) {
            float v[4 * kVecs], e[R + 1];
            const float4 *p4 = reinterpret_cast<const float4 *>(&s[ly + R + dy][4 * lane]);
#pragma unroll
            for (int k = 0; k < kVecs; k++) {
                const float4 q = p4[k];
                v[4 * k] = q.x;
                v[4 * k + 1] = q.y;
                v[4 * k + 2] = q.z;
                v[4 * k + 3] = q.w;
            }
#pragma unroll
            for (int a = 0; a <= R; a++)
                e[a] = -(float)(dy * dy + a * a) * ks;
#pragma unroll
            for (int dx = -R; dx <= R; dx++) {
#pragma unroll
                for (int o = 0; o < 4; o++) {
                    const float p = v[o + dx + R];
                    const float d = p - c[o];
                    const float weight = exp2f(fmaf(-(d * d), kr, e[dx < 0 ? -dx : dx]));
                    sum[o] = fmaf(weight, p, sum[o]);
                    norm[o] += weight;
                }
            }
        }
        float *to = dst + (size_t)(y0 + ly) * w + x0;
#pragma unroll
        for (int o = 0; o < 4; o++)
            if (4 * lane + o <= right)
                to[4 * lane + o] = sum[o] / norm[o];
    }
}

void bilateral(const float *src, float *dst, int w, int h, int radius, float sigma_space, float sigma_range)
{
    const float inv2ss = 1.0f / (2.0f * sigma_space * sigma_space);
    const float inv2sr = 1.0f / (2.0f * sigma_range * sigma_range);
    /* exp(-a) = exp2(-a * log2(e)); factors near the ends of the range (and NaN) take the general kernel */
    const float ks = (float)((double)inv2ss * 1.4426950408889634), kr = (float)((double)inv2sr * 1.4426950408889634);
    if (w > 0 && h > 0 && src != dst && radius >= 2 && radius <= 5 && ks > 1e-30f && ks < 1e30f && kr > 1e-30f &&
        kr < 1e30f) {
        const int tilesX = (w - 1) / 128 + 1, tilesY = (h - 1) / (8 * @ROWS@) + 1;
        const long long tiles = (long long)tilesX * tilesY;
        if (tiles <= 2147483647) {
            const unsigned int blocks = (unsigned int)tiles;
            if (radius == 2)
                bilateral_tile<2><<<blocks, 256>>>(src, dst, w, h, tilesX, ks, kr);
            else if (radius == 3)
                bilateral_tile<3><<<blocks, 256>>>(src, dst, w, h, tilesX, ks, kr);
            else if (radius == 4)
                bilateral_tile<4><<<blocks, 256>>>(src, dst, w, h, tilesX, ks, kr);
            else
                bilateral_tile<5><<<blocks, 256>>>(src, dst, w, h, tilesX, ks, kr);
            return;
        }
    }
    dim3 block(16, 16);
    dim3 grid((w + 15) / 16, (h + 15) / 16);
    bilateralFilter<<<grid, block>>>(src, dst, w, h, radius, inv2ss, inv2sr);
}