#include "nr.h"

/* Thomas algorithm: nsys tridiagonal systems of size n, interleaved so that element j of system s is at j*nsys+s.
   gam is workspace of the same size. */
__global__ void tridagk(CDP *a, CDP *b, CDP *c, CDP *r, DP *u, DP *gam, INT n, INT nsys)
{
	INT s=blockIdx.x*blockDim.x+threadIdx.x;
	if (s>=nsys) return;
	DP bet=b[s];
	u[s]=r[s]/bet;
	for (INT j=1;j<n;j++) {
		gam[j*nsys+s]=c[(j-1)*nsys+s]/bet;
		bet=b[j*nsys+s]-a[j*nsys+s]*gam[j*nsys+s];
		u[j*nsys+s]=(r[j*nsys+s]-a[j*nsys+s]*u[(j-1)*nsys+s])/bet;
	}
	for (INT j=n-2;j>=0;j--) u[j*nsys+s] -= gam[(j+1)*nsys+s]*u[(j+1)*nsys+s];
}

void tridag(CDP *a, CDP *b, CDP *c, CDP *r, DP *u, DP *gam, INT n, INT nsys)
{
	tridagk<<<(nsys+31)/32,32>>>(a,b,c,r,u,gam,n,nsys);
}

/* x[row] = forward substitution of a lower triangular matrix with unit diagonal, one block, columns in order */
__global__ void trsvk(CDP *l, CDP *b, DP *x, INT n)
{
	for (INT i=threadIdx.x;i<n;i+=blockDim.x) x[i]=b[i];
	__syncthreads();
	for (INT k=0;k<n;k++) {
		DP xk=x[k];
		for (INT i=k+1+threadIdx.x;i<n;i+=blockDim.x) x[i] -= l[(size_t)i*n+k]*xk;
		__syncthreads();
	}
}

void trsv(CDP *l, CDP *b, DP *x, INT n)
{
	trsvk<<<1,128>>>(l,b,x,n);
}

/* c = L*b for lower triangular L of n x n, b of n x m: only the k<=i are read. */
__global__ void trmmk(CDP *l, CDP *b, DP *c, INT n, INT m)
{
	INT j=blockIdx.x*blockDim.x+threadIdx.x, i=blockIdx.y*blockDim.y+threadIdx.y;
	if (i<n && j<m) {
		DP sum=0.0;
		for (INT k=0;k<=i;k++) sum += l[(size_t)i*n+k]*b[(size_t)k*m+j];
		c[(size_t)i*m+j]=sum;
	}
}

void trmm(CDP *l, CDP *b, DP *c, INT n, INT m)
{
	dim3 t(16,8), g((m+15)/16,(n+7)/8);
	trmmk<<<g,t>>>(l,b,c,n,m);
}

/* Mean, average deviation, standard deviation, variance of each of the nd rows of data. */
__global__ void momentk(CDP *data, INT n, DP *ave, DP *adev, DP *sdev, DP *var)
{
	__shared__ DP sh[128], sh2[128], sh3[128];
	const DP *d=data+(size_t)blockIdx.x*n;
	INT t=threadIdx.x, j, m;
	DP s=0.0, ep=0.0, av, ad=0.0, va=0.0;
	for (j=t;j<n;j+=128) s += d[j];
	sh[t]=s;
	__syncthreads();
	for (m=64;m>0;m>>=1) { if (t<m) sh[t] += sh[t+m]; __syncthreads(); }
	av=sh[0]/n;
	__syncthreads();
	for (j=t;j<n;j+=128) {
		s=d[j]-av;
		ad += fabs(s);
		ep += s;
		va += s*s;
	}
	sh[t]=ad; sh2[t]=ep; sh3[t]=va;
	__syncthreads();
	for (m=64;m>0;m>>=1) {
		if (t<m) { sh[t] += sh[t+m]; sh2[t] += sh2[t+m]; sh3[t] += sh3[t+m]; }
		__syncthreads();
	}
	if (t==0) {
		ave[blockIdx.x]=av;
		adev[blockIdx.x]=sh[0]/n;
		va=(sh3[0]-sh2[0]*sh2[0]/n)/(n-1); /* corrected two-pass formula */
		var[blockIdx.x]=va;
		sdev[blockIdx.x]=sqrt(va);
	}
}

void moment(CDP *data, INT n, INT nd, DP *ave, DP *adev, DP *sdev, DP *var)
{
	momentk<<<nd,128>>>(data,n,ave,adev,sdev,var);
}
