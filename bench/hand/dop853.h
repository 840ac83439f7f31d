/* A minimal DOP853 for one model after the other: Hairer's coefficients, step control of SciPy's
 * (safety 0.9, factors 0.2 .. 10). Included once a type, after models.h, with REAL and HAND_NAME. */

static const REAL HAND_NAME(A)[12][12] = {
    {0},
    {5.26001519587677318785587544488e-2L},
    {1.97250569845378994544595329183e-2L, 5.91751709536136983633785987549e-2L},
    {2.95875854768068491816892993775e-2L, 0, 8.87627564304205475450678981324e-2L},
    {2.41365134159266685502369798665e-1L, 0, -8.84549479328286085344864962717e-1L,
     9.24834003261792003115737966543e-1L},
    {3.7037037037037037037037037037e-2L, 0, 0, 1.70828608729473871279604482173e-1L,
     1.25467687566822425016691814123e-1L},
    {3.7109375e-2L, 0, 0, 1.70252211019544039314978060272e-1L, 6.02165389804559606850219397283e-2L,
     -1.7578125e-2L},
    {3.70920001185047927108779319836e-2L, 0, 0, 1.70383925712239993810214054705e-1L,
     1.07262030446373284651809199168e-1L, -1.53194377486244017527936158236e-2L,
     8.27378916381402288758473766002e-3L},
    {6.24110958716075717114429577812e-1L, 0, 0, -3.36089262944694129406857109825L,
     -8.68219346841726006818189891453e-1L, 2.75920996994467083049415600797e1L,
     2.01540675504778934086186788979e1L, -4.34898841810699588477366255144e1L},
    {4.77662536438264365890433908527e-1L, 0, 0, -2.48811461997166764192642586468L,
     -5.90290826836842996371446475743e-1L, 2.12300514481811942347288949897e1L,
     1.52792336328824235832596922938e1L, -3.32882109689848629194453265587e1L,
     -2.03312017085086261358222928593e-2L},
    {-9.3714243008598732571704021658e-1L, 0, 0, 5.18637242884406370830023853209L,
     1.09143734899672957818500254654L, -8.14978701074692612513997267357L,
     -1.85200656599969598641566180701e1L, 2.27394870993505042818970056734e1L,
     2.49360555267965238987089396762L, -3.0467644718982195003823669022L},
    {2.27331014751653820792359768449L, 0, 0, -1.05344954667372501984066689879e1L,
     -2.00087205822486249909675718444L, -1.79589318631187989172765950534e1L,
     2.79488845294199600508499808837e1L, -2.85899827713502369474065508674L,
     -8.87285693353062954433549289258L, 1.23605671757943030647266201528e1L,
     6.43392746015763530355970484046e-1L},
};
static const REAL HAND_NAME(C)[12] = {0,
                                      0.526001519587677318785587544488e-1L,
                                      0.789002279381515978178381316732e-1L,
                                      0.118350341907227396726757197510L,
                                      0.281649658092772603273242802490L,
                                      0.333333333333333333333333333333L,
                                      0.25L,
                                      0.307692307692307692307692307692L,
                                      0.651282051282051282051282051282L,
                                      0.6L,
                                      0.857142857142857142857142857142L,
                                      1};
static const REAL HAND_NAME(B)[12] = {5.42937341165687622380535766363e-2L,
                                      0,
                                      0,
                                      0,
                                      0,
                                      4.45031289275240888144113950566L,
                                      1.89151789931450038304281599044L,
                                      -5.8012039600105847814672114227L,
                                      3.1116436695781989440891606237e-1L,
                                      -1.52160949662516078556178806805e-1L,
                                      2.01365400804030348374776537501e-1L,
                                      4.47106157277725905176885569043e-2L};
static const REAL HAND_NAME(E5)[12] = {0.1312004499419488073250102996e-1L,
                                       0,
                                       0,
                                       0,
                                       0,
                                       -0.1225156446376204440720569753e1L,
                                       -0.4957589496572501915214079952L,
                                       0.1664377182454986536961530415e1L,
                                       -0.3503288487499736816886487290L,
                                       0.3341791187130174790297318841L,
                                       0.8192320648511571246570742613e-1L,
                                       -0.2235530786388629525884427845e-1L};
/* weights of the estimate of order 3 on stages 0, 8, 11 */
static const REAL HAND_NAME(E3)[3] = {0.244094488188976377952755905512L,
                                      0.733846688281611857341361741547L,
                                      0.220588235294117647058823529412e-1L};

enum { HAND_NAME(MOST) = 32 };

/* out = y + h sum w_j K_j */
static inline void HAND_NAME(combine)(int n, const REAL *restrict y, REAL h, const REAL *w,
                                      int count, REAL K[13][HAND_NAME(MOST)], REAL *restrict out)
{
    for (int i = 0; i < n; i++)
        out[i] = w[0] * K[0][i];
    for (int j = 1; j < count; j++)
        for (int i = 0; w[j] != 0 && i < n; i++)
            out[i] += w[j] * K[j][i];
    for (int i = 0; i < n; i++)
        out[i] = y[i] + h * out[i];
}

/* h E in the scaled norm, both estimates. */
static REAL HAND_NAME(error)(int n, REAL h, REAL K[13][HAND_NAME(MOST)], const REAL *y,
                             const REAL *next, REAL rtol, REAL atol)
{
    REAL e5 = 0, e3 = 0;
    for (int i = 0; i < n; i++) {
        REAL scale = atol + fmax(fabs(y[i]), fabs(next[i])) * rtol, a = 0, b = 0;
        for (int j = 0; j < 12; j++) {
            a += HAND_NAME(E5)[j] * K[j][i];
            b += HAND_NAME(B)[j] * K[j][i];
        }
        b -= HAND_NAME(E3)[0] * K[0][i] + HAND_NAME(E3)[1] * K[8][i] + HAND_NAME(E3)[2] * K[11][i];
        e5 += a / scale * (a / scale);
        e3 += b / scale * (b / scale);
    }
    return e5 == 0 && e3 == 0 ? 0 : h * e5 / sqrt((e5 + (REAL)0.01L * e3) * n);
}

/* settle (NULL: none) brings an accepted state back to the constraints. */
static inline int HAND_NAME(integrate)(void (*f)(const REAL *y, REAL *dy), void (*settle)(REAL *y),
                                       int n, REAL end, REAL rtol, REAL atol, REAL *y,
                                       hand_work *work)
{
    REAL K[13][HAND_NAME(MOST)], next[HAND_NAME(MOST)], trial[HAND_NAME(MOST)], t = 0;
    REAL d0 = 0, d1 = 0, d2 = 0;
    bool rejected = false;
    *work = (hand_work){0};
    f(y, K[0]);
    for (int i = 0; i < n; i++) {
        REAL scale = atol + fabs(y[i]) * rtol;
        d0 += y[i] / scale * (y[i] / scale);
        d1 += K[0][i] / scale * (K[0][i] / scale);
    }
    REAL h = d0 < (REAL)1e-10L || d1 < (REAL)1e-10L ? (REAL)1e-6L : (REAL)0.01L * sqrt(d0 / d1);
    for (int i = 0; i < n; i++)
        trial[i] = y[i] + h * K[0][i];
    f(trial, K[1]);
    for (int i = 0; i < n; i++) {
        REAL e = (K[1][i] - K[0][i]) / (atol + fabs(y[i]) * rtol);
        d2 += e * e;
    }
    d2 = fmax(sqrt(d2 / n) / h, sqrt(d1 / n));
    h = fmin(100 * h, d2 <= 1e-15 ? fmax((REAL)1e-6L, h * (REAL)1e-3L)
                                  : pow((REAL)0.01L / d2, (REAL)0.125L));
    while (t < end) {
        bool last = t + h >= end;
        h = last ? end - t : h;
        for (int s = 1; s < 12; s++) {
            HAND_NAME(combine)(n, y, h, HAND_NAME(A)[s], s, K, trial);
            f(trial, K[s]);
        }
        HAND_NAME(combine)(n, y, h, HAND_NAME(B), 12, K, next);
        work->evaluations += 12;
        REAL error = HAND_NAME(error)(n, h, K, y, next, rtol, atol);
        REAL factor = error == 0 ? 10 : (REAL)0.9L * pow(error, -(REAL)0.125L);
        if (!(error < 1)) {
            h *= fmax((REAL)0.2L, factor);
            rejected = true;
            work->rejected++;
            if (!(h > (REAL)1e-14L * end))
                return -1;
            continue;
        }
        t = last ? end : t + h;
        memcpy(y, next, (size_t)n * sizeof *y);
        if (settle)
            settle(y);
        f(y, K[0]);
        h *= fmin(rejected ? 1 : 10, factor);
        rejected = false;
        work->steps++;
    }
    return 0;
}
