/* Starts the copies of a warp's four rows of one plane into its part of a ring. Only points in the domain are read. */
template<bool VEC>
__device__ __forceinline__ void CopyRows(unsigned uTo, const double *pdFrom, unsigned uLoad, long long nRow)
{
    #pragma unroll
    for (int r = 0; r < 4; r++)
    {
        #pragma unroll
        for (int c = 0; c < (VEC ? 1 : 2); c++)
        {
            const unsigned uDst = uTo + 512 * r + 256 * c;
            const double *pdSrc = pdFrom + r * nRow + 32 * c;
            if (uLoad & (1u << (2 * r + c)))
            {
                if (VEC)
                    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(uDst), "l"(pdSrc) : "memory");
                else
                    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(uDst), "l"(pdSrc) : "memory");
            }
        }
    }
}

/* Ends a group of copies. */
__device__ __forceinline__ void CommitCopies()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ __forceinline__ double2 LoadPair(const double *pdFrom)
{
    return *(const double2 *)pdFrom;
}

/* Writes a pair; two bits say which of its points are the tile's own. With VEC they are equal. */
template<bool VEC>
__device__ __forceinline__ void StorePair(double *pdTo, double2 d2V, unsigned uStore)
{
    if (VEC)
    {
        if (uStore & 1u)
            *(double2 *)pdTo = d2V;
    }
    else
    {
        if (uStore & 1u)
            pdTo[0] = d2V.x;
        if (uStore & 2u)
            pdTo[1] = d2V.y;
    }
}

/* (dSum - dH2 * dRhs) / 6. The double next to 1/6 is less than 1/6 by 2^-54 of it: with that share added before the
   only rounding, the product is rounded as the quotient is. Infinity and NaN stay what they are. */
__device__ __forceinline__ double Relax(double dSum, double dRhs, double dH2)
{
    const double dSixth = 1.0 / 6.0;
    const double dShare = dSixth * 5.551115123125783e-17;
    const double dW = fma(-dH2, dRhs, dSum);
    return fma(dW, dSixth, dW * dShare);
}

/* D sweeps from pdOld to pdNew in one pass. A block owns a tile of 64 x 32 columns, halo included, and walks along z. A
   thread has a pair in x and four rows. Level s is the state after s sweeps; of level s, a thread keeps the newest plane
   (d2Cur) and the sum of five of its six neighbours (d2Acc) in registers. When plane k of level 0 comes in, plane k - s of
   each level s can be made. What is wrong at the rim of the tile moves in by one point a sweep and ends in the halo. */
template<int D, bool VEC>
__global__ void __launch_bounds__(256, 1) KernelJacobiSweep(double *__restrict__ pdNew, const double *__restrict__ pdOld,
    const double *__restrict__ pdRhs, int nX, int nY, int nZ, double dH2, unsigned nTilesX, unsigned nTilesY, int nLenZ)
{
    constexpr int HALO_X = D + (D & 1);     /* even, so that a pair stays a pair */
    constexpr int SLOT = 8 * 4 * 64;        /* points of a tile, in one slot of a ring */
    constexpr int BAND = @BAND@;            /* rows that go through the levels together */
    constexpr bool HOLD = @HOLD@;           /* keep right-hand sides from one level to the next in registers */

    /* planes of level 0 [3][SLOT], of the right-hand side [D + 2][SLOT], rows for other warps [2][D][8][2][64] */
    extern __shared__ __align__(16) double adShared[];

    const int iLane = threadIdx.x & 31;
    const int iWarp = threadIdx.x >> 5;
    const unsigned uTileX = blockIdx.x % nTilesX;
    const unsigned uTileY = blockIdx.x / nTilesX % nTilesY;
    const int iZ0 = (int)(blockIdx.x / nTilesX / nTilesY) * nLenZ;
    const int iZ1 = nZ - iZ0 > nLenZ ? iZ0 + nLenZ : nZ;
    const int kLo = iZ0 > D ? iZ0 - D : 0;
    const int kHi = nZ - iZ1 > D ? iZ1 + D : nZ;

    /* of the tile's first column and of the warp's first row; both may lie outside the domain */
    const long long iX = (long long)uTileX * (64 - 2 * HALO_X) - HALO_X;
    const long long iY = (long long)uTileY * (32 - 2 * D) - D + 4 * iWarp;
    const long long nPlane = (long long)nX * nY;

    unsigned uFixed = 0, uLoad = 0, uStore = 0;
    #pragma unroll
    for (int r = 0; r < 4; r++)
    {
        #pragma unroll
        for (int c = 0; c < 2; c++)
        {
            const int iRow = 4 * iWarp + r;
            const int iCol = 2 * iLane + c;
            const long long x = iX + iCol;
            const long long y = iY + r;
            const long long xLoad = VEC ? x : iX + iLane + 32 * c;
            const unsigned uBit = 1u << (2 * r + c);
            if (x <= 0 || x >= nX - 1 || y <= 0 || y >= nY - 1)
                uFixed |= uBit;
            if (xLoad >= 0 && xLoad < nX && y >= 0 && y < nY)
                uLoad |= uBit;
            if (iRow >= D && iRow < 32 - D && iCol >= HALO_X && iCol < 64 - HALO_X && x < nX && y < nY)
                uStore |= uBit;
        }
    }
    const bool bStores = 4 * iWarp + 3 >= D && 4 * iWarp < 32 - D;

    const int iLoad = (VEC ? 2 : 1) * iLane;
    const double *pdRingU = adShared + iWarp * 256 + 2 * iLane;
    const double *pdRingF = pdRingU + 3 * SLOT;
    double *pdRows = adShared + (D + 5) * SLOT;
    const unsigned uRingU = (unsigned)__cvta_generic_to_shared(adShared + iWarp * 256 + iLoad);
    const unsigned uRingF = uRingU + 3 * SLOT * 8;
    const double *pdFromU = pdOld + (iY * nX + iX + iLoad);
    const double *pdFromF = pdRhs + (iY * nX + iX + iLoad);
    double *pdTo = pdNew + (iY * nX + iX + 2 * iLane);
    const int iOwn = iWarp * 128 + 2 * iLane;
    const int iUp = (iWarp > 0 ? iWarp - 1 : 0) * 128 + 64 + 2 * iLane;
    const int iDown = (iWarp < 7 ? iWarp + 1 : 7) * 128 + 2 * iLane;

    for (int i = threadIdx.x; i < (D + 5) * SLOT / 2; i += 256)
        ((double2 *)adShared)[i] = make_double2(0.0, 0.0);
    __syncthreads();

    double2 d2Cur[D][4], d2Acc[D][4], d2Kept[(D + 1) / 2][4];
    #pragma unroll
    for (int r = 0; r < 4; r++)
    {
        #pragma unroll
        for (int s = 0; s < D; s++)
        {
            d2Cur[s][r] = make_double2(0.0, 0.0);
            d2Acc[s][r] = make_double2(0.0, 0.0);
            d2Kept[s / 2][r] = make_double2(0.0, 0.0);
        }
    }

    CopyRows<VEC>(uRingU, pdFromU + kLo * nPlane, uLoad, nX);
    CommitCopies();
    if (kLo + 1 < kHi)
        CopyRows<VEC>(uRingU + SLOT * 8, pdFromU + (kLo + 1) * nPlane, uLoad, nX);
    CommitCopies();

    int iU = 0;         /* slot of plane k of level 0 */
    int iF = D + 1;     /* slot of plane k - 1 of the right-hand side; the first and the last plane are not needed */
    #pragma unroll @UNROLL@
    for (int k = kLo; k < iZ1 + D; k++)
    {
        if (k + 2 < kHi)
        {
            CopyRows<VEC>(uRingU + (iU > 0 ? iU - 1 : 2) * (SLOT * 8), pdFromU + (k + 2) * nPlane, uLoad, nX);
            CopyRows<VEC>(uRingF + (iF >= D ? iF - D : iF + 2) * (SLOT * 8), pdFromF + (k + 1) * nPlane, uLoad, nX);
        }
        CommitCopies();
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncwarp();

        /* along z: plane k - 1 - s of level s has all its neighbours now and gives that plane of level s + 1 */
        const bool bOut = bStores && k >= iZ0 + D;
        #pragma unroll
        for (int q = 0; q < 4; q += BAND)
        {
            double2 d2V[4], d2Held[4];
            #pragma unroll
            for (int r = q; r < q + BAND; r++)
                d2V[r] = LoadPair(pdRingU + iU * SLOT + 64 * r);
            #pragma unroll
            for (int s = 0; s < D; s++)
            {
                const int iZ = k - 1 - s;
                const unsigned uKeep = iZ <= 0 || iZ >= nZ - 1 ? 0xffu : uFixed;
                const double *pdF = pdRingF + (iF >= s ? iF - s : iF - s + D + 2) * SLOT;
                double2 d2N[4];
                if (s < D - 1 || bOut)
                {
                    #pragma unroll
                    for (int r = q; r < q + BAND; r++)
                    {
                        double2 d2F = d2Kept[s / 2][r];
                        if (!HOLD || s % 2 == 0)
                            d2F = LoadPair(pdF + 64 * r);
                        if (s % 2 == 0)
                            d2Held[r] = d2F;
                        const double dX = Relax(d2Acc[s][r].x + d2V[r].x, d2F.x, dH2);
                        const double dY = Relax(d2Acc[s][r].y + d2V[r].y, d2F.y, dH2);
                        d2N[r].x = uKeep & (1u << (2 * r)) ? d2Cur[s][r].x : dX;
                        d2N[r].y = uKeep & (2u << (2 * r)) ? d2Cur[s][r].y : dY;
                        if (s == D - 1)
                            StorePair<VEC>(pdTo + ((k - D) * nPlane + r * (long long)nX), d2N[r], uStore >> (2 * r));
                    }
                }
                #pragma unroll
                for (int r = q; r < q + BAND; r++)
                {
                    if (s % 2 == 1)
                        d2Kept[s / 2][r] = d2Held[r];
                    d2Acc[s][r] = d2Cur[s][r];
                    d2Cur[s][r] = d2V[r];
                    if (s < D - 1)
                        d2V[r] = d2N[r];
                }
            }
        }

        double *pdNow = pdRows + (k & 1) * (D * 1024);
        #pragma unroll
        for (int s = 0; s < D; s++)
        {
            *(double2 *)(pdNow + s * 1024 + iOwn) = d2Cur[s][0];
            *(double2 *)(pdNow + s * 1024 + iOwn + 64) = d2Cur[s][3];
        }
        __syncthreads();

        /* in the plane: d2Acc holds the plane before, which is the fifth neighbour */
        #pragma unroll
        for (int s = 0; s < D; s++)
        {
            if (s < D - 1 || bStores)
            {
                const double2 d2Up = LoadPair(pdNow + s * 1024 + iUp);
                const double2 d2Down = LoadPair(pdNow + s * 1024 + iDown);
                #pragma unroll
                for (int r = 0; r < 4; r++)
                {
                    const double2 d2C = d2Cur[s][r];
                    double2 d2M = d2Up, d2P = d2Down;
                    if (r > 0)
                        d2M = d2Cur[s][r > 0 ? r - 1 : 0];
                    if (r < 3)
                        d2P = d2Cur[s][r < 3 ? r + 1 : 3];
                    const double dLeft = __shfl_up_sync(0xffffffffu, d2C.y, 1);
                    const double dRight = __shfl_down_sync(0xffffffffu, d2C.x, 1);
                    d2Acc[s][r].x = (((dLeft + d2C.y) + d2M.x) + d2P.x) + d2Acc[s][r].x;
                    d2Acc[s][r].y = (((d2C.x + dRight) + d2M.y) + d2P.y) + d2Acc[s][r].y;
                }
            }
        }

        iU = iU < 2 ? iU + 1 : 0;
        iF = iF < D + 1 ? iF + 1 : 0;
    }
}