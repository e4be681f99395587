// BYTES: size of the copies into shared memory, 16 where qkv is aligned to it (rows are multiples of 128 B), or 4.
template <int BYTES>
__global__ void __launch_bounds__(kThreads, @BLOCKS@)
alibi_attention_kernel(const __half2* __restrict__ qkv, const float* __restrict__ slopes, __half2* __restrict__ out,
                       int B, int T, int H, float scale) {
  __shared__ __align__(128) unsigned char tiles[5 * kTileBytes];  // q, then k and v twice

  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  const int t = lane & 3;

  const unsigned heads = (unsigned)B * (unsigned)H;
  const int bh = (int)(blockIdx.x % heads);
  const int qt = (T - 1) / kTile - (int)(blockIdx.x / heads);  // the longest rows first
  const int h = bh % H;
  const int b = bh / H;

  const size_t part = (size_t)H * kHalf2PerHead;  // distance from q to k and from k to v
  const size_t token = 3 * part;
  const __half2* base = qkv + (size_t)b * T * token + (size_t)h * kHalf2PerHead;

  const unsigned smem = (unsigned)__cvta_generic_to_shared(tiles);
  copy_tile<BYTES>(smem, base, token, qt * kTile, T);
  copy_commit();
  copy_tile<BYTES>(smem + kTileBytes, base + part, token, 0, T);
  copy_tile<BYTES>(smem + 2 * kTileBytes, base + 2 * part, token, 0, T);
  copy_commit();
  copy_wait<1>();
  __syncthreads();

  // Where this lane's rows of the 8x8 matrices lie; the next 16 channels are reached by ^ 32, the next 16 rows by + 2048.
  const unsigned a_lane = (lane & 15) * kRowBytes + (((lane >> 4) ^ (lane & 7)) << 4);
  const unsigned b_lane =
      ((lane & 7) + ((lane >> 4) << 3)) * kRowBytes + ((((lane >> 3) & 1) ^ (lane & 7)) << 4);

  unsigned q[4][4];
#pragma unroll
  for (int ks = 0; ks < 4; ++ks) ldmatrix_x4(q[ks], (smem + 2048u * warp + a_lane) ^ (ks << 5));

  const float slope = slopes[h];
  const int i0 = qt * kTile + 16 * warp + (lane >> 2);  // this lane has parts of the rows i0 and i0 + 8
  float m[2] = {-INFINITY, -INFINITY}, l[2] = {0.f, 0.f};
  float acc[8][4] = {};

  for (int kt = 0; kt <= qt; ++kt) {
    const int k_at = (1 + 2 * (kt & 1)) * kTileBytes;
    const int v_at = k_at + kTileBytes;

    copy_wait<0>();
    const int bad = __syncthreads_or(!own_pieces_finite<BYTES>(tiles + v_at));
    if (kt < qt) {
      const int next = (1 + 2 * ((kt + 1) & 1)) * kTileBytes;
      copy_tile<BYTES>(smem + next, base + part, token, (kt + 1) * kTile, T);
      copy_tile<BYTES>(smem + next + kTileBytes, base + 2 * part, token, (kt + 1) * kTile, T);
    }
    copy_commit();

    float s[8][4] = {};
#pragma unroll
    for (int ks = 0; ks < 4; ++ks) {
#pragma unroll
      for (int kb = 0; kb < 4; ++kb) {
        unsigned k[4];
        ldmatrix_x4(k, ((smem + k_at + b_lane) ^ (ks << 5)) + kb * 2048);
        mma_f16(s[2 * kb], q[ks], k[0], k[1]);
        mma_f16(s[2 * kb + 1], q[ks], k[2], k[3]);
      }
    }

    const int ahead = i0 - kt * kTile - 2 * t;
    const float dist[2] = {(float)ahead, (float)(ahead + 8)};
#pragma unroll
    for (int n = 0; n < 8; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float d = dist[e >> 1] - (float)(8 * n + (e & 1));
        s[n][e] = s[n][e] * scale - slope * d;
      }
    }
    if (kt == qt) {
#pragma unroll
      for (int n = 0; n < 8; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) s[n][e] = dist[e >> 1] < (float)(8 * n + (e & 1)) ? -INFINITY : s[n][e];
      }
    }
    // A row whose first score is -inf is NaN, as exp(-inf + inf) is.
    const bool first = kt == 0 && t == 0;
    s[0][0] = first && s[0][0] == -INFINITY ? __int_as_float(0x7fffffff) : s[0][0];
    s[0][2] = first && s[0][2] == -INFINITY ? __int_as_float(0x7fffffff) : s[0][2];

    float top[2] = {m[0], m[1]}, fix[2];
#pragma unroll
    for (int n = 0; n < 8; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) top[e >> 1] = fmaxf(top[e >> 1], s[n][e]);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      top[r] = fmaxf(top[r], __shfl_xor_sync(0xffffffffu, top[r], 1));
      top[r] = fmaxf(top[r], __shfl_xor_sync(0xffffffffu, top[r], 2));
      fix[r] = __expf(m[r] - top[r]);
      m[r] = top[r];
      l[r] *= fix[r];
    }
#pragma unroll
    for (int n = 0; n < 8; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        s[n][e] = __expf(s[n][e] - m[e >> 1]) * kUnit;
        l[e >> 1] += s[n][e];
        acc[n][e] *= fix[e >> 1];
      }
    }

    // Blocks of 16 keys that this warp needs. Where V has inf or NaN, a masked weight or a split one would make NaN of
    // it, so such tiles go one key at a time in float; so do the first 16 queries, which costs next to nothing and
    // keeps that path in use for every input.
    const unsigned all = kt == qt ? (2u << warp) - 1u : 15u;
    const unsigned plain = bad ? all : (unsigned)((kt | qt | warp) == 0);
    const unsigned fast = all & ~plain;
#pragma unroll
    for (int kb = 0; kb < 4; ++kb) {
      if ((fast >> kb) & 1u) {
        unsigned hi[4], lo[4];
#pragma unroll
        for (int f = 0; f < 4; ++f)
          split(s[2 * kb + (f >> 1)][2 * (f & 1)], s[2 * kb + (f >> 1)][2 * (f & 1) + 1], hi[f], lo[f]);
#pragma unroll
        for (int cp = 0; cp < 4; ++cp) {
          unsigned v[4];
          ldmatrix_x4_trans(v, ((smem + v_at + a_lane) ^ (cp << 5)) + kb * 2048);
          mma_f16(acc[2 * cp], hi, v[0], v[1]);
          mma_f16(acc[2 * cp + 1], hi, v[2], v[3]);
          mma_f16(acc[2 * cp], lo, v[0], v[1]);
          mma_f16(acc[2 * cp + 1], lo, v[2], v[3]);
        }
      }
    }
    for (unsigned u = plain; u != 0; u &= u - 1) {
      const int kb = __ffs((int)u) - 1;
      float p[2][4];
#pragma unroll
      for (int hf = 0; hf < 2; ++hf) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          p[hf][e] = s[hf][e];
#pragma unroll
          for (int x = 1; x < 4; ++x) p[hf][e] = kb == x ? s[2 * x + hf][e] : p[hf][e];
        }
      }
#pragma unroll 1
      for (int tt = 0; tt < 4; ++tt) {
#pragma unroll
        for (int hf = 0; hf < 2; ++hf) {
#pragma unroll
          for (int par = 0; par < 2; ++par) {
            const float p0 = __shfl_sync(0xffffffffu, p[hf][par], (lane & 28) | tt);
            const float p1 = __shfl_sync(0xffffffffu, p[hf][2 + par], (lane & 28) | tt);
            const int key = 16 * kb + 8 * hf + 2 * tt + par;
            const bool use0 = kt * kTile + key <= i0;
            const bool use1 = kt * kTile + key <= i0 + 8;
            const unsigned char* row = tiles + v_at + key * kRowBytes + 4 * t;
#pragma unroll
            for (int n = 0; n < 8; ++n) {
              const float2 v = __half22float2(*reinterpret_cast<const __half2*>(row + ((n ^ (key & 7)) << 4)));
              acc[n][0] = use0 ? acc[n][0] + p0 * v.x : acc[n][0];
              acc[n][1] = use0 ? acc[n][1] + p0 * v.y : acc[n][1];
              acc[n][2] = use1 ? acc[n][2] + p1 * v.x : acc[n][2];
              acc[n][3] = use1 ? acc[n][3] + p1 * v.y : acc[n][3];
            }
          }
        }
      }
    }
  }

#pragma unroll
  for (int r = 0; r < 2; ++r) {
    l[r] += __shfl_xor_sync(0xffffffffu, l[r], 1);
    l[r] += __shfl_xor_sync(0xffffffffu, l[r], 2);
    const float inv = 1.f / l[r];
    const int i = i0 + 8 * r;
    if (i < T) {
      __half2* row = out + (((size_t)b * T + i) * H + h) * kHalf2PerHead + t;
#pragma unroll
      for (int n = 0; n < 8; ++n) row[4 * n] = __floats2half2_rn(acc[n][2 * r] * inv, acc[n][2 * r + 1] * inv);
    }
  }
}