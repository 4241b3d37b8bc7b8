// The kernel itself: kernels/simplex.py

__device__ void begin() {
    // `_begin`: the tableau of B with every slack basic
    const int thread = this_thread(), v = thread % VECTORS, group = thread / VECTORS;
    const Payoffs B = problem.B;
    for (int i = thread; i < M; i += THREADS) {
        b[i] = 1;
        e[i] = weight_of(i);
        basic[i] = N + i;
    }
    for (int j = thread; j < N; j += THREADS) {
        c[j] = 1;
        nonbasic[j] = j;
    }
    if (group < GROUPS) {
        Vector square = {};
#pragma unroll 4
        for (int i = group; i < M; i += GROUPS) {
            Vector here;
#pragma unroll
            for (int k = 0; k < VECTOR; k++) {
                const int j = v * VECTOR + k;
                here.lane[k] = j < N ? Real(B(i, j)) : Real(0);
                square.lane[k] += here.lane[k] * here.lane[k];
            }
            vector_of(i, v) = here;
        }
        reinterpret_cast<Vector *>(squares + group * STRIDE)[v] = square;
    }
    __syncthreads();
}

__device__ void mark_basis() {
    // record which variables are basic, for `return_to_basis`
    for (int i = this_thread(); i < M; i += THREADS) problem.scratch->primal[basic[i]] = 1;
    for (int s = this_thread(); s < N; s += THREADS) problem.scratch->primal[nonbasic[s]] = 0;
    __syncthreads();
}

__device__ bool return_to_basis() {
    // `recompute`: go from the basis of all slacks to the marked basis by a pivot for each of its q, and so without the
    // rounding of the pivots that led there. False if the basis is singular
    const double *wanted = problem.scratch->primal;
    Held<0> none;
    for (int s = 0; s < N; s++) {
        if (wanted[s] == 0) continue;
        take_column(none, s);
        Choice best = {0, -1};
        for (int i = this_thread(); i < M; i += THREADS)
            if (basic[i] >= N && wanted[basic[i]] == 0) best = better(best, {fabs(double(factor[i])), i});
        const Best largest = block_best(best);
        if (largest.at < 0 || !(largest.score > SINGULAR)) return false;
        publish(none, largest.at, s, b[largest.at]);
        __syncthreads();
        pivot(none, largest.at, s);
    }
    return true;
}

struct Answers {  // to every matrix k
    double *strategy, *opponent;  // (runs, M), (runs, N)
    double *value, *gap;          // (runs,); the gap is NaN if there is no answer
    long long *pivots;            // (runs,)
};

__device__ bool write_answer(const Answers &out, int k) {
    // `bounds`, and write the answer; true if the gap is small enough
    const int thread = this_thread();
    const Payoffs B = problem.B;
    Scratch &w = *problem.scratch;
    double *p = w.dual + N, *q = w.primal, total_p = 0, total_q = 0;
    bool rounded = false;
    for (int i = thread; i < M; i += THREADS) {
        if (p[i] < ROUNDING) {
            rounded |= p[i] != 0;
            p[i] = 0;
        }
        total_p += p[i];
    }
    for (int j = thread; j < N; j += THREADS) {
        if (q[j] < ROUNDING) {
            rounded |= q[j] != 0;
            q[j] = 0;
        }
        total_q += q[j];
    }
    total_p = block_sum(total_p);
    total_q = block_sum(total_q);
    if (__syncthreads_or(rounded)) products(B, p, q, w.row_sums, w.column_sums);  // else `refine` has computed them
    double lower = NONE, upper = -NONE;
    for (int j = thread; j < N; j += THREADS) lower = fmin(lower, w.column_sums[j]);
    for (int i = thread; i < M; i += THREADS) upper = fmax(upper, w.row_sums[i]);
    lower = block_min(lower) / total_p;
    upper = block_max(upper) / total_q;
    for (int i = thread; i < M; i += THREADS) out.strategy[size_t(k) * M + i] = p[i] / total_p;
    for (int j = thread; j < N; j += THREADS) out.opponent[size_t(k) * N + j] = q[j] / total_q;
    const double range = (problem.high - B.low) * B.unit, gap = (upper - lower) / (range > 0 ? range : 1);
    if (thread == 0) {
        out.value[k] = B.low + (0.5 * (lower + upper) - 1) / B.unit;
        out.gap[k] = gap;
    }
    return fabs(gap) <= MOST_GAP;
}

__device__ void write_none(const Answers &out, int k) {
    // write uniform strategies in place of an answer, so that readers have valid ones
    for (int i = this_thread(); i < M; i += THREADS) out.strategy[size_t(k) * M + i] = 1.0 / M;
    for (int j = this_thread(); j < N; j += THREADS) out.opponent[size_t(k) * N + j] = 1.0 / N;
    if (this_thread() == 0) {
        out.value[k] = out.gap[k] = nan("");
        out.pivots[k] = 0;
    }
}

__device__ bool solve(const double *A, const double *weight, Scratch *scratch, Real *rest, const Answers &out, int k) {
    // solve A, which is matrix k; true if there is an answer
    double low = NONE, high = -NONE;
#pragma unroll 8
    for (int at = this_thread(); at < M * N; at += THREADS) {
        low = fmin(low, A[at]);
        high = fmax(high, A[at]);
    }
    low = block_min(low);
    high = block_max(high);
    if (this_thread() == 0) problem = {{A, low, 1 / (high != low ? high - low : 1)}, high, weight, scratch, rest};
    __syncthreads();
    // `_from_scratch`, and then without the rule for ties, as in `_rescue`: the rule may ask for more digits than there
    // are. If single precision fails, the caller tries double precision
    for (int attempt = 0; attempt < (sizeof(Real) == sizeof(double) ? 3 : 1); attempt++) {
        const bool again = attempt == 1;
        if (again) mark_basis();
        if (attempt == 2 && this_thread() == 0) problem.weight = nullptr;
        __syncthreads();
        begin();
        if (again && !return_to_basis()) continue;
        const int limit = again ? M + N : 10 * (M + N) + 50;
        const int pivots = settle(again ? fmax(ZERO, LOOSE) : ZERO, again ? LOOSE : EXACT, limit, again);
        if (pivots >= 0 && write_answer(out, k)) {
            if (this_thread() == 0) out.pivots[k] = pivots;
            return true;
        }
        __syncthreads();
    }
    return false;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
solve_batch(const double *A, const double *weight, int weights, int runs, const int *chosen, int *counts, int *failed,
            bool *marks, int each, Scratch *scratch, Real *rest, double *strategy, double *opponent, double *value,
            double *gap, long long *pivots) {
    // Solve A[k], (runs, M, N), with the tie weights (weights, M), weights being 1 or runs.
    // chosen: the k to solve, counts[0] of them; null: all. counts[1], 0 at first: the next one for a block to take.
    // failed: receives the k without an answer; counts[2], 0 at first, becomes their number.
    // marks, unless null: becomes true at k / each for each of these.
    // scratch and rest: working memory, one Scratch and (M - SHARED_ROWS, STRIDE) for each block.
    const int all = chosen ? counts[0] : runs;
    for (;;) {
        __syncthreads();
        if (this_thread() == 0) next_matrix = atomicAdd(counts + 1, 1);
        __syncthreads();
        if (next_matrix >= all) return;
        const int k = chosen ? chosen[next_matrix] : next_matrix;
        const Answers out = {strategy, opponent, value, gap, pivots};
        if (solve(A + size_t(k) * M * N, weight + (weights > 1 ? size_t(k) * M : 0), scratch + blockIdx.x,
                  rest + size_t(blockIdx.x) * ((M - SHARED_ROWS) * STRIDE), out, k))
            continue;
        write_none(out, k);
        if (this_thread() == 0) {
            failed[atomicAdd(counts + 2, 1)] = k;
            if (marks) marks[k / each] = true;
        }
    }
}
