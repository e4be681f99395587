#include "nr.h"

/* Polynomials by Horner's rule, with the first derivative. c[0..nc-1], lowest power first. */
__global__ void ddpolyk(CDP *c, INT nc, CDP *x, DP *p, DP *dp, INT n)
{
	for (INT i=blockIdx.x*blockDim.x+threadIdx.x;i<n;i+=gridDim.x*blockDim.x) {
		DP pp=c[nc-1], d=0.0;
		for (INT j=nc-2;j>=0;j--) {
			d=d*x[i]+pp;
			pp=pp*x[i]+c[j];
		}
		p[i]=pp;
		dp[i]=d;
	}
}

void ddpoly(CDP *c, INT nc, CDP *x, DP *p, DP *dp, INT n)
{
	ddpolyk<<<IMIN((n+127)/128,1024),128>>>(c,nc,x,p,dp,n);
}

/* ln(Gamma(x)) by Lanczos. */
__constant__ DP cof[14]={57.1562356658629235,-59.5979603554754912,
14.1360979747417471,-0.491913816097620199,.339946499848118887e-4,
.465236289270485756e-4,-.983744753048795646e-4,.158088703224912494e-3,
-.210264441724104883e-3,.217439618115212643e-3,-.164318106536763890e-3,
.844182239838527433e-4,-.261908384015814087e-4,.368991826595316234e-5};

__global__ void gammlnk(CDP *xx, DP *res, INT n)
{
	INT i=blockIdx.x*blockDim.x+threadIdx.x;
	if (i>=n) return;
	DP x,tmp,y,ser;
	y=x=xx[i];
	tmp=x+5.24218750000000000;
	tmp=(x+0.5)*log(tmp)-tmp;
	ser=0.999999999999997092;
	for (INT j=0;j<14;j++) ser += cof[j]/++y;
	res[i]=tmp+log(2.5066282746310005*ser/x);
}

void gammln(CDP *xx, DP *res, INT n)
{
	gammlnk<<<(n+255)/256,256>>>(xx,res,n);
}

/* Clenshaw summation of a Chebyshev series on [a,b] in single precision */
__global__ void chebevk(const SP *__restrict__ c, INT m, SP a, SP b, const SP *__restrict__ x, SP *__restrict__ r, INT n)
{
	INT i=blockIdx.x*blockDim.x+threadIdx.x;
	if (i>=n) return;
	SP d=0.0f,dd=0.0f,sv,y,y2;
	y2=2.0f*(y=(2.0f*x[i]-a-b)/(b-a));
	for (INT j=m-1;j>0;j--) {
		sv=d;
		d=y2*d-dd+c[j];
		dd=sv;
	}
	r[i]=y*d-dd+0.5f*c[0];
}

void chebev(const SP *c, INT m, SP a, SP b, const SP *x, SP *r, INT n)
{
	chebevk<<<(n+255)/256,256>>>(c,m,a,b,x,r,n);
}
