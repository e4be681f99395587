// RWKV-4 time mixing over a prompt: the wkv recurrence per channel in the numerically safe form, gated by sigmoid(r).
// k, v, r, y: [B][T][C] bf16; decay (negative) and bonus: [C]; the state aa, bb, pp: [B][C] goes on from the last prompt.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__global__ void wkv_kernel(const __nv_bfloat16* k, const __nv_bfloat16* v, const __nv_bfloat16* r, const float* decay,
                           const float* bonus, float* aa, float* bb, float* pp, __nv_bfloat16* y, int B, int T, int C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * C)
        return;
    int b = i / C;
    int c = i % C;

    float w = decay[c];
    float u = bonus[c];
    float a = aa[i], s = bb[i], p = pp[i];

    for (int t = 0; t < T; t++) {
        size_t at = ((size_t)b * T + t) * C + c;
        float kt = __bfloat162float(k[at]);
        float vt = __bfloat162float(v[at]);

        float q = fmaxf(p, u + kt);
        float e1 = expf(p - q);
        float e2 = expf(u + kt - q);
        float wkv = (e1 * a + e2 * vt) / (e1 * s + e2);
        y[at] = __float2bfloat16(wkv / (1.0f + expf(-__bfloat162float(r[at]))));

        q = fmaxf(p + w, kt);
        e1 = expf(p + w - q);
        e2 = expf(kt - q);
        a = e1 * a + e2 * vt;
        s = e1 * s + e2;
        p = q;
    }

    aa[i] = a;
    bb[i] = s;
    pp[i] = p;
}

extern "C" void rwkv_wkv(const __nv_bfloat16* k, const __nv_bfloat16* v, const __nv_bfloat16* r, const float* decay,
                         const float* bonus, float* aa, float* bb, float* pp, __nv_bfloat16* y, int B, int T, int C)
{
    wkv_kernel<<<(B * C + 63) / 64, 64>>>(k, v, r, decay, bonus, aa, bb, pp, y, B, T, C);
}
