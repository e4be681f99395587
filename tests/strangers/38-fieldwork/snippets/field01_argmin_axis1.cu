/* argmin over the middle axis of a (B, D, L) tensor.
 *
 * Same contract as torch.argmin(x, dim=1): int64 result of shape (B, L), the first index wins when the minimum
 * occurs more than once.
 *
 * Neighbouring threads own neighbouring l, so all the loads are coalesced. Good enough for now.
 */
#include <math.h>
#include <stddef.h>

extern "C" {

__global__ void argmin_mid(const float* x, long long* idx, int B, int D, int L)
{
    int l = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (l >= L) return;

    const float* col = x + (size_t)b * D * L + l;
    float lowest = INFINITY;
    long long where = 0;
    for (int d = 0; d < D; ++d) {
        float v = col[(size_t)d * L];
        if (v < lowest) {
            lowest = v;
            where = d;
        }
    }
    idx[(size_t)b * L + l] = where;
}

void argmin_axis1(const float* x, long long* idx, int B, int D, int L)
{
    dim3 block(128);
    dim3 grid((L + 127) / 128, B);
    argmin_mid<<<grid, block>>>(x, idx, B, D, L);
}

}
