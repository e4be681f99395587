void cummax_f16(const half* x, half* values, int* indices, int outer, int len, int inner)
{
    const size_t lanes = (size_t)outer * inner;
    if (lanes == 0 || len == 0) return;
    const bool wide = inner % CM_WIDE == 0 && ((size_t)x | (size_t)values) % (2 * CM_WIDE) == 0 &&
                      (size_t)indices % (4 * CM_WIDE) == 0;
    const size_t columns = wide ? 32 * CM_WIDE : 32;
    const unsigned blocks = (unsigned)((lanes + columns - 1) / columns);
    if (wide) {
        cummax_mid_axis<CM_WIDE><<<blocks, 32 * CM_WARPS>>>(x, values, indices, outer, len, inner);
    } else {
        cummax_mid_axis<1><<<blocks, 32 * CM_WARPS>>>(x, values, indices, outer, len, inner);
    }
}