#include "nr.h"

/* One red-black sweep of SOR for the Poisson equation, in place: first the red points, then the black ones. */
__global__ void sork(DP *u, CDP *f, INT nx, INT ny, DP h2, DP omega, INT colour)
{
	INT i=blockIdx.x*blockDim.x+threadIdx.x+1, j=blockIdx.y*blockDim.y+threadIdx.y+1;
	if (i>=nx-1 || j>=ny-1 || ((i+j)&1)!=colour) return;
	DP resid=u[j*nx+i-1]+u[j*nx+i+1]+u[(j-1)*nx+i]+u[(j+1)*nx+i]-4.0*u[j*nx+i]-h2*f[j*nx+i];
	u[j*nx+i] += omega*resid*0.25;
}

void sor_sweep(DP *u, CDP *f, INT nx, INT ny, DP h2, DP omega)
{
	dim3 t(16,16), g((nx+13)/16,(ny+13)/16);
	sork<<<g,t>>>(u,f,nx,ny,h2,omega,0);
	sork<<<g,t>>>(u,f,nx,ny,h2,omega,1);
}

/* trapezoidal rule for a function given at n+1 points, in each of m rows, cumulative */
__global__ void cumtrapk(CDP *y, DP *s, INT n, INT m, DP h)
{
	INT r=blockIdx.x*blockDim.x+threadIdx.x;
	if (r>=m) return;
	DP acc=0.0, prev=y[(size_t)r*(n+1)];
	for (INT j=1;j<=n;j++) {
		DP cur=y[(size_t)r*(n+1)+j];
		acc += 0.5*h*(prev+cur);
		s[(size_t)r*n+j-1]=acc;
		prev=cur;
	}
}

void cumtrap(CDP *y, DP *s, INT n, INT m, DP h)
{
	cumtrapk<<<(m+63)/64,64>>>(y,s,n,m,h);
}
