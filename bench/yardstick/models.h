/* A copy of shared/yardsticks/common/models.h; see bench_evaluations.c. */
/* clang-format off */
#pragma GCC system_header
/* models.h - hand-written right-hand sides ("hand-written C limit") shared by all drivers.
   REAL may be double (default) or long double (references). */
#ifndef MODELS_H
#define MODELS_H
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifndef REAL
#define REAL double
#endif
#define GRAV ((REAL)9.81L)
#if defined(REAL_LD)
#define RSIN sinl
#define RCOS cosl
#define RSQRT sqrtl
#else
#define RSIN sin
#define RCOS cos
#define RSQRT sqrt
#endif
/* ---- planar n-link pendulum, unit masses/lengths, absolute angles from the downward vertical ---- */
static void npend_M_f(int n,const REAL*q,const REAL*w,REAL*M,REAL*f){ /* dense M (row major), f */
  REAL s[256],c[256]; for(int i=0;i<n;i++){s[i]=RSIN(q[i]);c[i]=RCOS(q[i]);}
  for(int i=0;i<n;i++){ REAL fi=-GRAV*(n-i)*s[i];
    for(int j=0;j<n;j++){ int k=n-(i>j?i:j); M[i*n+j]=k*(c[i]*c[j]+s[i]*s[j]); fi-=k*(s[i]*c[j]-c[i]*s[j])*w[j]*w[j]; }
    f[i]=fi; } }
static void chol_solve(int n,REAL*M,REAL*f){ /* in place LL^T, lower, row-major */
  for(int i=0;i<n;i++){ for(int j=0;j<=i;j++){ REAL s=M[i*n+j]; for(int k=0;k<j;k++)s-=M[i*n+k]*M[j*n+k];
      if(i==j)M[i*n+i]=1/RSQRT(s); else M[i*n+j]=s*M[j*n+j]; } }
  for(int i=0;i<n;i++){REAL s=f[i];for(int k=0;k<i;k++)s-=M[i*n+k]*f[k];f[i]=s*M[i*n+i];}
  for(int i=n-1;i>=0;i--){REAL s=f[i];for(int k=i+1;k<n;k++)s-=M[k*n+i]*f[k];f[i]=s*M[i*n+i];} }
static void npend_dense(int n,const REAL*q,const REAL*w,REAL*a){ REAL M[n*n]; npend_M_f(n,q,w,M,a); chol_solve(n,M,a); }
/* O(n): string tensions are tridiagonal; then th'' = e_t . (a_i - a_{i-1}) */
static void npend_On(int n,const REAL*q,const REAL*w,REAL*a){
  REAL s[n],c[n],d[n],e[n],t[n+1];
  for(int i=0;i<n;i++){s[i]=RSIN(q[i]);c[i]=RCOS(q[i]);}
  /* r_i=(s,-c); T_i tension of link i (towards anchor); m a_i = -T_i r_i + T_{i+1} r_{i+1} - g ey ; r_i.(a_i-a_{i-1}) = -w_i^2 */
  for(int i=0;i<n;i++){ REAL rhs=w[i]*w[i];
    if(i==0){ d[0]=1; rhs+=GRAV*c[0]; } else d[i]=2;
    if(i+1<n) e[i]=-(s[i]*s[i+1]+c[i]*c[i+1]);
    t[i]=rhs; }
  for(int i=1;i<n;i++){ REAL m=e[i-1]/d[i-1]; d[i]-=m*e[i-1]; t[i]-=m*t[i-1]; }
  t[n]=0; t[n-1]/=d[n-1]; for(int i=n-2;i>=0;i--) t[i]=(t[i]-e[i]*t[i+1])/d[i];
  REAL px=0,py=0; for(int i=0;i<n;i++){ REAL ax=-t[i]*s[i], ay=t[i]*c[i]-GRAV;
    if(i+1<n){ax+=t[i+1]*s[i+1]; ay-=t[i+1]*c[i+1];}
    a[i]=c[i]*(ax-px)+s[i]*(ay-py); px=ax;py=ay; } }
/* ---- Hamel's skate on an incline: x,y,th ; A=(sin th,-cos th,0) ---- */
#define SK_G ((REAL)4.905L)
#define SK_M ((REAL)1)
#define SK_I ((REAL)0.1L)
static inline void skate_closed(const REAL*q,const REAL*v,REAL*a){ REAL s=RSIN(q[2]),c=RCOS(q[2]);
  REAL lam=-(v[2]*(v[0]*c+v[1]*s)+s*SK_G); a[0]=SK_G+s*lam; a[1]=-c*lam; a[2]=0; }
/* ---- Cartesian pendulum x,y, l=1 (index-1 form) ---- */
static inline void cpend(const REAL*q,const REAL*v,REAL*a){ REAL lam=(-(v[0]*v[0]+v[1]*v[1])+GRAV*q[1])/(q[0]*q[0]+q[1]*q[1]); a[0]=lam*q[0]; a[1]=lam*q[1]-GRAV; }
/* ---- Andrews' squeezer (Hairer & Wanner II, VII.7): 7 coords, 6 constraints ---- */
static void andrews_eval(const REAL*q,const REAL*v,REAL M[7][7],REAL f[7],REAL G[6][7],REAL gam[6],REAL g[6]){
  const REAL m1=.04325L,m2=.00365L,m3=.02373L,m4=.00706L,m5=.07050L,m6=.00706L,m7=.05498L,
   xa=-.06934L,ya=-.00227L,xb=-.03635L,yb=.03273L,xc=.014L,yc=.072L,c0=4530,lo=.07785L,
   i1=2.194e-6L,i2=4.410e-7L,i3=5.255e-6L,i4=5.667e-7L,i5=1.169e-5L,i6=5.667e-7L,i7=1.912e-5L,
   d=28e-3L,da=115e-4L,e=2e-2L,ea=1421e-5L,rr=7e-3L,ra=92e-5L,ss=35e-3L,sa=1874e-5L,sb=1043e-5L,sc=18e-3L,sd=2e-2L,
   ta=2308e-5L,tb=916e-5L,u=4e-2L,ua=1228e-5L,ub=449e-5L,zf=2e-2L,zt=4e-2L,fa=1421e-5L,mom=33e-3L;
  REAL sb_=RSIN(q[0]),cb=RCOS(q[0]),st=RSIN(q[1]),ct=RCOS(q[1]),sg=RSIN(q[2]),cg=RCOS(q[2]),sp=RSIN(q[3]),cp=RCOS(q[3]),
       sde=RSIN(q[4]),cde=RCOS(q[4]),so=RSIN(q[5]),co=RCOS(q[5]),se=RSIN(q[6]),ce=RCOS(q[6]);
  REAL sbt=RSIN(q[0]+q[1]),cbt=RCOS(q[0]+q[1]),spd=RSIN(q[3]+q[4]),cpd=RCOS(q[3]+q[4]),soe=RSIN(q[5]+q[6]),coe=RCOS(q[5]+q[6]);
  REAL bp=v[0],tp=v[1],gp=v[2],pp=v[3],dp=v[4],op=v[5],ep=v[6];
  memset(M,0,49*sizeof(REAL)); memset(G,0,42*sizeof(REAL));
  M[0][0]=m1*ra*ra+m2*(rr*rr-2*da*rr*ct+da*da)+i1+i2; M[1][0]=M[0][1]=m2*(da*da-da*rr*ct)+i2; M[1][1]=m2*da*da+i2;
  M[2][2]=m3*(sa*sa+sb*sb)+i3; M[3][3]=m4*(e-ea)*(e-ea)+i4; M[4][3]=M[3][4]=m4*((e-ea)*(e-ea)+zt*(e-ea)*sp)+i4;
  M[4][4]=m4*(zt*zt+2*zt*(e-ea)*sp+(e-ea)*(e-ea))+m5*(ta*ta+tb*tb)+i4+i5; M[5][5]=m6*(zf-fa)*(zf-fa)+i6;
  M[6][5]=M[5][6]=m6*((zf-fa)*(zf-fa)-u*(zf-fa)*so)+i6; M[6][6]=m6*((zf-fa)*(zf-fa)-2*u*(zf-fa)*so+u*u)+m7*(ua*ua+ub*ub)+i6+i7;
  REAL xd=sd*cg+sc*sg+xb,yd=sd*sg-sc*cg+yb,L=RSQRT((xd-xc)*(xd-xc)+(yd-yc)*(yd-yc)),F=-c0*(L-lo)/L,fx=F*(xd-xc),fy=F*(yd-yc);
  f[0]=mom-m2*da*rr*tp*(tp+2*bp)*st; f[1]=m2*da*rr*bp*bp*st; f[2]=fx*(sc*cg-sd*sg)+fy*(sd*cg+sc*sg);
  f[3]=m4*zt*(e-ea)*dp*dp*cp; f[4]=-m4*zt*(e-ea)*pp*(pp+2*dp)*cp; f[5]=-m6*u*(zf-fa)*ep*ep*co; f[6]=m6*u*(zf-fa)*op*(op+2*ep)*co;
  for(int k=0;k<3;k++){ G[2*k][0]=-rr*sb_+d*sbt; G[2*k][1]=d*sbt; G[2*k+1][0]=rr*cb-d*cbt; G[2*k+1][1]=-d*cbt; }
  G[0][2]=-ss*cg; G[1][2]=-ss*sg; G[2][3]=-e*cpd; G[2][4]=-e*cpd+zt*sde; G[3][3]=-e*spd; G[3][4]=-e*spd-zt*cde;
  G[4][5]=zf*soe; G[4][6]=zf*soe-u*ce; G[5][5]=-zf*coe; G[5][6]=-zf*coe-u*se;
  if(g){ REAL px=rr*cb-d*cbt,py=rr*sb_-d*sbt; g[0]=px-ss*sg-xb; g[1]=py+ss*cg-yb; g[2]=px-e*spd-zt*cde-xa; g[3]=py+e*cpd-zt*sde-ya; g[4]=px-zf*coe-u*se-xa; g[5]=py-zf*soe+u*ce-ya; }
  REAL w2=(bp+tp)*(bp+tp),gx=-rr*cb*bp*bp+d*cbt*w2,gy=-rr*sb_*bp*bp+d*sbt*w2,w4=(pp+dp)*(pp+dp),w6=(op+ep)*(op+ep);
  /* gam = -(d/dt G) v */
  gam[0]=-(gx+ss*sg*gp*gp); gam[1]=-(gy-ss*cg*gp*gp); gam[2]=-(gx+e*spd*w4+zt*cde*dp*dp); gam[3]=-(gy-e*cpd*w4+zt*sde*dp*dp);
  gam[4]=-(gx+zf*coe*w6+u*se*ep*ep); gam[5]=-(gy+zf*soe*w6-u*ce*ep*ep); }
static const double andrews_q0[7]={-0.0617138900142764496358948458001,0,0.455279819163070380255912382449,0.222668390165885884674473185609,0.487364979543842550225598953530,-0.222668390165885884674473185609,1.23054744454982119249735015568};
/* Schur complement solve with tiny in-place Choleskys (7 and 6) */
static void andrews_acc(const REAL*q,const REAL*v,REAL*a){
  REAL M[7][7],f[7],G[6][7],gam[6]; andrews_eval(q,v,M,f,G,gam,0);
  /* Cholesky of M once (inverse diag kept) */
  for(int i=0;i<7;i++)for(int j=0;j<=i;j++){REAL s=M[i][j];for(int k=0;k<j;k++)s-=M[i][k]*M[j][k];if(i==j)M[i][i]=1/RSQRT(s);else M[i][j]=s*M[j][j];}
  REAL W[6][7],y[7]; for(int r=0;r<6;r++)for(int i=0;i<7;i++){REAL s=G[r][i];for(int k=0;k<i;k++)s-=M[i][k]*W[r][k];W[r][i]=s*M[i][i];}
  for(int i=0;i<7;i++){REAL s=f[i];for(int k=0;k<i;k++)s-=M[i][k]*y[k];y[i]=s*M[i][i];}
  REAL S[36],l[6]; for(int r=0;r<6;r++){REAL b=-gam[r];for(int k=0;k<7;k++)b+=W[r][k]*y[k];l[r]=b;for(int c=0;c<=r;c++){REAL s=0;for(int k=0;k<7;k++)s+=W[r][k]*W[c][k];S[r*6+c]=s;}}
  chol_solve(6,S,l);
  for(int i=0;i<7;i++){for(int r=0;r<6;r++)y[i]-=W[r][i]*l[r];}
  for(int i=6;i>=0;i--){REAL s=y[i];for(int k=i+1;k<7;k++)s-=M[k][i]*a[k];a[i]=s*M[i][i];} }
/* ---- 3-D chain: N unit point masses, unit links, anchored at origin ---- */
/* state from relative joint angles R_i = R_{i-1} Rx(a_i) Ry(b_i), link = R_i (0,0,-1) */
#define CH_A(i) (0.3*sin((i)+1.0))
#define CH_B(i) (0.2*cos(2.0*(i)))
#define CH_DA(i) (0.5*cos(3.0*(i)))
#define CH_DB(i) (0.4*sin(5.0*(i)))
static void chain_state(int N,double*x,double*v){
  double R[3][3]={{1,0,0},{0,1,0},{0,0,1}},w[3]={0,0,0},p[3]={0,0,0},pv[3]={0,0,0};
  for(int i=0;i<N;i++){ double ca=cos(CH_A(i)),sa=sin(CH_A(i)),cb=cos(CH_B(i)),sb=sin(CH_B(i));
    double Rx[3][3]={{1,0,0},{0,ca,-sa},{0,sa,ca}},Ry[3][3]={{cb,0,sb},{0,1,0},{-sb,0,cb}},T[3][3],U[3][3];
    for(int r=0;r<3;r++)for(int c=0;c<3;c++){T[r][c]=0;for(int k=0;k<3;k++)T[r][c]+=R[r][k]*Rx[k][c];}
    for(int r=0;r<3;r++)w[r]+=R[r][0]*CH_DA(i)+T[r][1]*CH_DB(i);
    for(int r=0;r<3;r++)for(int c=0;c<3;c++){U[r][c]=0;for(int k=0;k<3;k++)U[r][c]+=T[r][k]*Ry[k][c];}
    memcpy(R,U,sizeof R); double L[3]={-R[0][2],-R[1][2],-R[2][2]};
    pv[0]+=w[1]*L[2]-w[2]*L[1]; pv[1]+=w[2]*L[0]-w[0]*L[2]; pv[2]+=w[0]*L[1]-w[1]*L[0];
    for(int r=0;r<3;r++){p[r]+=L[r];x[3*i+r]=p[r];v[3*i+r]=pv[r];} } }
#endif
