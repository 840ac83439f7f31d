/* A copy of shared/yardsticks/common/dop853.h; see bench_evaluations.c. */
/* clang-format off */
#pragma GCC system_header
/* dop853.h - Dormand-Prince 8(5,3) in plain C, step control as scipy's DOP853 */
#ifndef DOP853_H
#define DOP853_H
#include "dop853_coef.h"
#include <math.h>
#include <string.h>
typedef void (*rhs_t)(double t,const double*y,double*dy,void*u);
typedef struct{long nfev,nstep,nrej;} dstat;
#define DMAX 64
static void (*dop853_proj)(double*y)=0; /* optional projection after an accepted step */
static int dop853(rhs_t f,void*u,int n,double t,double tend,double*y,double rtol,double atol,double hmax,dstat*st){
  double K[13][DMAX],yn[DMAX],yt[DMAX]; long nf=0,ns=0,nr=0; f(t,y,K[0],u); nf++;
  double d0=0,d1=0,d2=0; for(int i=0;i<n;i++){double sc=atol+fabs(y[i])*rtol; d0+=y[i]/sc*(y[i]/sc); d1+=K[0][i]/sc*(K[0][i]/sc);} d0=sqrt(d0/n);d1=sqrt(d1/n);
  double h0=(d0<1e-5||d1<1e-5)?1e-6:0.01*d0/d1; for(int i=0;i<n;i++)yt[i]=y[i]+h0*K[0][i]; f(t+h0,yt,K[1],u);nf++;
  for(int i=0;i<n;i++){double sc=atol+fabs(y[i])*rtol; d2+=(K[1][i]-K[0][i])/sc*((K[1][i]-K[0][i])/sc);} d2=sqrt(d2/n)/h0;
  double h1=(d1<=1e-15&&d2<=1e-15)?fmax(1e-6,h0*1e-3):pow(0.01/fmax(d1,d2),1.0/8); double h=fmin(100*h0,h1); int rejected=0;
  while(t<tend){ if(h>hmax)h=hmax; if(t+h>tend)h=tend-t; if(h<1e-15)return -1;
    for(int s=1;s<12;s++){ for(int i=0;i<n;i++){double a=0;for(int j=0;j<s;j++)a+=DA[s][j]*K[j][i]; yt[i]=y[i]+h*a;} f(t+DC[s]*h,yt,K[s],u);} 
    for(int i=0;i<n;i++){double a=0;for(int j=0;j<12;j++)a+=DB[j]*K[j][i]; yn[i]=y[i]+h*a;} f(t+h,yn,K[12],u); nf+=12;
    double e5=0,e3=0; for(int i=0;i<n;i++){double sc=atol+fmax(fabs(y[i]),fabs(yn[i]))*rtol,a=0,b=0; for(int j=0;j<13;j++){a+=DE5[j]*K[j][i];b+=DE3[j]*K[j][i];} a/=sc;b/=sc;e5+=a*a;e3+=b*b;}
    double err=(e5==0&&e3==0)?0:h*e5/sqrt((e5+0.01*e3)*n);
    if(err<1){ double fac=err==0?10:fmin(10,0.9*pow(err,-0.125)); if(rejected&&fac>1)fac=1; t=(h==tend-t)?tend:t+h; memcpy(y,yn,n*sizeof*y); memcpy(K[0],K[12],n*sizeof*y); h*=fac; rejected=0; ns++; if(dop853_proj){dop853_proj(y);f(t,y,K[0],u);nf++;} if(tend-t<1e-14*fabs(tend))break;}
    else { h*=fmax(0.2,0.9*pow(err,-0.125)); rejected=1; nr++; } }
  if(st){st->nfev=nf;st->nstep=ns;st->nrej=nr;} return 0; }
#endif
