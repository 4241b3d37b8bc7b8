// From a tableau to an answer: kernels/tableau.py

template <class Matrix, class Left, class Right>
__device__ void products(Matrix matrix, const Left *p, const Right *q, double *row_sums, double *column_sums) {
    // `_products`: row_sums = matrix q and column_sums = matrix' p, in one sweep
    Scratch &w = *problem.scratch;
    constexpr int ROWS = LANE_COLUMNS <= 4 ? 4 : LANE_COLUMNS <= 8 ? 2 : 1;  // at a time, to have more loads in flight
    const int lane = this_thread() % WARP, warp = this_thread() / WARP;
    double right[LANE_COLUMNS], column[LANE_COLUMNS];
#pragma unroll
    for (int k = 0; k < LANE_COLUMNS; k++) {
        right[k] = lane + k * WARP < N ? double(q[lane + k * WARP]) : 0;
        column[k] = 0;
    }
    for (int first = warp * ROWS; first < M; first += WARPS * ROWS) {
        double here[ROWS][LANE_COLUMNS], sum[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int k = 0; k < LANE_COLUMNS; k++) {
                const bool inside = first + i < M && lane + k * WARP < N;
                here[i][k] = inside ? double(matrix(first + i, lane + k * WARP)) : 0;
            }
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const double left = first + i < M ? double(p[first + i]) : 0;
            sum[i] = 0;
#pragma unroll
            for (int k = 0; k < LANE_COLUMNS; k++) {
                sum[i] += here[i][k] * right[k];
                column[k] += here[i][k] * left;
            }
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++) sum[i] = warp_sum(sum[i]);
        if (lane == 0)
            for (int i = 0; i < ROWS; i++)
                if (first + i < M) row_sums[first + i] = sum[i];
    }
#pragma unroll
    for (int k = 0; k < LANE_COLUMNS; k++)
        if (lane + k * WARP < N) w.column_parts[warp][lane + k * WARP] = column[k];
    __syncthreads();
    for (int j = this_thread(); j < N; j += THREADS) {
        double sum = 0;
#pragma unroll 8
        for (int k = 0; k < WARPS; k++) sum += w.column_parts[k][j];
        column_sums[j] = sum;
    }
    __syncthreads();
}

__device__ __forceinline__ bool refine(double enough) {
    // `_refine`: compute p and q of this basis by iterative refinement, then b and c. False if it diverges
    const int thread = this_thread();
    const Payoffs B = problem.B;
    Scratch &w = *problem.scratch;
    for (int i = thread; i < M; i += THREADS) {
        w.primal[basic[i]] = b[i];
        w.dual[basic[i]] = 0;
    }
    for (int s = thread; s < N; s += THREADS) {
        w.primal[nonbasic[s]] = 0;
        w.dual[nonbasic[s]] = -c[s];
    }
    __syncthreads();
    double before = NONE;
    for (int round = 0; round < REFINEMENTS; round++) {
        products(B, w.dual + N, w.primal, w.row_sums, w.column_sums);
        for (int i = thread; i < M; i += THREADS) w.primal[N + i] = 1 - w.row_sums[i];
        for (int j = thread; j < N; j += THREADS) w.dual[j] = w.column_sums[j] - 1;
        __syncthreads();
        double error = 0;
        for (int i = thread; i < M; i += THREADS) {
            const int at = basic[i];
            b[i] = w.primal[at];
            factor[i] = -w.dual[at];
            error = fmax(error, number(fabs(w.dual[at])));
        }
        for (int s = thread; s < N; s += THREADS) {
            const int at = nonbasic[s];
            c[s] = -w.dual[at];
            row[s] = w.primal[at];
            error = fmax(error, number(fabs(w.primal[at])));
        }
        error = block_max(error);
        if (error <= enough) return true;
        if (!(error < 0.5 * before)) return error <= 0.1 * EXACT;
        before = error;
        products([&](int i, int j) { return entry(i, j); }, factor, row, w.row_steps, w.column_steps);
        for (int i = thread; i < M; i += THREADS) w.primal[basic[i]] += w.row_steps[i];
        for (int s = thread; s < N; s += THREADS) w.dual[nonbasic[s]] += w.column_steps[s];
        __syncthreads();
    }
    return false;
}

__device__ __forceinline__ void tie_parts() {
    // e, the part of the right-hand side that belongs to the perturbation 1 + epsilon * weight
    const int thread = this_thread();
    Scratch &w = *problem.scratch;
    for (int s = thread; s < N; s += THREADS) row[s] = nonbasic[s] >= N ? weight_of(nonbasic[s] - N) : 0;
    __syncthreads();
    products([&](int i, int j) { return entry(i, j); }, factor, row, w.row_steps, w.column_steps);
    for (int i = thread; i < M; i += THREADS) e[i] = w.row_steps[i] + (basic[i] >= N ? weight_of(basic[i] - N) : 0);
    __syncthreads();
}

__device__ __forceinline__ bool ties_hold() {
    // `_ties_hold`: true if e solves B e + slack = weight
    const int thread = this_thread();
    const Payoffs B = problem.B;
    Scratch &w = *problem.scratch;
    for (int j = thread; j < N; j += THREADS) w.column_steps[j] = 0;
    for (int i = thread; i < M; i += THREADS) w.row_steps[i] = 0;
    __syncthreads();
    double largest = 1;
    for (int i = thread; i < M; i += THREADS) {
        if (basic[i] < N) w.column_steps[basic[i]] = e[i];
        else w.row_steps[basic[i] - N] = e[i];
        largest = fmax(largest, number(fabs(e[i])));
    }
    const double most = TIE_ERROR + TIE_ERROR_RELATIVE * block_max(largest);
    double error = 0;
    for (int i = thread / WARP; i < M; i += WARPS) {
        double sum = 0;
        for (int j = thread % WARP; j < N; j += WARP) sum += B(i, j) * w.column_steps[j];
        error = fmax(error, number(fabs(warp_sum(sum) + w.row_steps[i] - weight_of(i))));
    }
    return block_max(error) <= most;
}

__device__ __forceinline__ int settle(double zero, double exact, int limit, bool again) {
    // `settle`, and the pivots before it: refine and pivot until the basis is optimal in double precision, ties
    // included. The tolerance of b and c is zero before they are refined, and exact afterwards. A recomputed tableau
    // may have negative b, a new one has not. Returns the number of pivots, or -1 if it cannot go on
    int pivots = 0, repairs = 0;
    for (int round = 0; round <= ROUNDS; round++) {
        if (round > 0 || again) {
            tie_parts();
            repairs = dual(zero, limit);
            if (repairs < 0) return -1;
        }
        const int improvements = primal(zero, limit);
        if (improvements < 0) return -1;
        if (round > 0 && repairs + improvements == 0) return ties_hold() ? pivots : -1;
        pivots += repairs + improvements;
        for (int last = 0; last < 2; last++) {  // the second time to full precision, if there may be a zero
            if (!refine(last ? 0 : 0.1 * EXACT)) return -1;
            double least = NONE, most = -NONE;
            for (int i = this_thread(); i < M; i += THREADS) least = fmin(least, b[i]);
            for (int s = this_thread(); s < N; s += THREADS) most = fmax(most, c[s]);
            least = block_min(least);
            most = block_max(most);
            if (least > (last ? exact : NEAR) && most <= exact) return pivots;
        }
        zero = exact;
        limit = M + N;
    }
    return -1;
}
