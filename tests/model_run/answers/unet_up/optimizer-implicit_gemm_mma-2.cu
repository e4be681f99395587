extern "C" void unet_up(const __half* x, const __half* skip, const __half* w, const __half* b, __half* y, int N, int C1, int C2,
                        int H, int W, int OC) {
    if (N == 0 || OC == 0 || H == 0 || W == 0) return;
    size_t obs = (OC + 47) / 48, slabs = obs * ((C1 + 15) / 16 + (C2 + 15) / 16);
    __half* ws = nullptr;
    cudaMalloc((void**)&ws, slabs > 0 ? slabs * 13824 : 16);
    if (slabs > 0) unet_up_pack_kernel<<<(unsigned)(slabs * 27), 256>>>(w, ws, C1, C2, OC);
    cudaFuncSetAttribute(unet_up_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 49408);
    size_t blocks = obs * N * ((2 * H + 7) / 8) * ((2 * W + 31) / 32);
    unet_up_kernel<<<(unsigned)blocks, 128, 49408>>>(x, skip, ws, b, y, C1, C2, H, W, OC);
    cudaFree(ws);
}