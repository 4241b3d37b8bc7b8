// Kernels that read, write or count one entry per run, compute running sums, and draw an action per run.

__device__ long long place(long long run, const long long *at, const long long *to, long long m, long long k) {
    return to ? (run * m + at[run]) * k + to[run] : run * m + at[run];
}

extern "C" __global__ void take(const double *array, const long long *at, const long long *to, long long runs,
                                long long m, long long k, double *out) {
    const long long run = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (run < runs) out[run] = array[place(run, at, to, m, k)];
}

extern "C" __global__ void put(double *array, const long long *at, const long long *to, long long runs,
                               long long m, long long k, const double *values) {
    const long long run = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (run < runs) array[place(run, at, to, m, k)] = values[run];
}

extern "C" __global__ void visit(double *count, const long long *at, const long long *to, long long runs,
                                 long long m, long long k, const double *reward, double *mean) {
    const long long run = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (run >= runs) return;
    const long long here = place(run, at, to, m, k);
    const double visits = count[here] += 1, before = mean[here];
    mean[here] = before + (reward[run] - before) / visits;
}

extern "C" __global__ void add_up(const double *carry, const double *terms, long long rounds, long long width,
                                  double *sums) {
    const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (at >= width) return;
    double sum = carry[at];
    for (long long t = 0; t < rounds; t++) sums[t * width + at] = sum += terms[t * width + at];
}

extern "C" __global__ void first_above(const double *policy, const double *uniform, long long runs, long long actions,
                                       long long step, long long *out) {
    const long long run = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (run >= runs) return;
    const double *own = policy + run * actions;
    double total = 0, sum = 0;
    for (long long i = 0; i < actions; i++) total += own[i];
    long long action = 0;
    while (action < actions - 1 && (sum += own[action]) <= uniform[run * step] * total) action++;
    out[run] = action;
}
