// The kernel for a graphics processor: certified maximin strategies of a batch, one block of threads a matrix.
//
// The method is that of the kernel for large matrices, and so are the names: see kernels/tableau.py for the linear
// program and the tableau, kernels/refine.py for what follows the pivots. Every function here says which of those it
// is. What it lacks is a warm start, and a tableau computed anew: a matrix that would need one is left to the caller.
//
// Where things are. The first SHARED_ROWS rows of T are in shared memory, the others in global memory. A thread updates
// the same vector of VECTOR columns in every GROUPS-th row, so that the squares of a column come out of the sweep. b,
// c and e are double precision, as on the processor.
//
// A sum is added up in an order that depends on the shape alone. So the answer to a matrix is a function of the matrix,
// its weights and the constants below, to the last bit, in any batch.
//
// Constants, which the caller defines: M, N (the shape), REAL (of T: float or double), THREADS, SHARED_ROWS, WARP,
// BLOCKS (at a time on a multiprocessor), and the tolerances ZERO, TINY, EXACT, LOOSE, ROUNDING, SHARE, TIE_ERROR and
// TIE_ERROR_RELATIVE of kernels/tolerances.py.

typedef REAL Real;

constexpr int VECTOR = 16 / sizeof(Real);               // columns that a thread updates at a time
constexpr int VECTORS = (N + VECTOR - 1) / VECTOR;      // of a row
constexpr int STRIDE = (VECTORS + (VECTORS % 8 == 0)) * VECTOR;  // from row to row; not a power of two: see vectors
constexpr int GROUPS = THREADS / VECTORS;               // of threads, each of which has all columns
constexpr int WARPS = THREADS / WARP;
constexpr int LANE_COLUMNS = (N + WARP - 1) / WARP;     // columns that a thread of a warp has
constexpr int ROUNDS = 12;                              // as in kernels/refine.py
constexpr int REFINEMENTS = 8;
constexpr unsigned ALL = 0xffffffffu;
constexpr double NONE = 1e300;                          // larger than any number that is compared with it

static_assert(THREADS % WARP == 0 && GROUPS >= 1, "too few threads for a row");

struct alignas(16) Vector {
    Real lane[VECTOR];
};

struct Choice {
    double score;  // the largest is chosen, of equal ones the first
    int at;        // -1: none
};

struct Move {
    int row, column;  // -1: there is none
    double right;     // b of the row
};

struct Payoffs {
    const double *A;  // (M, N)
    double low, unit;

    __device__ double operator()(int i, int j) const { return 1 + (A[i * N + j] - low) * unit; }  // B, in [1, 2]
};

struct Scratch {  // in global memory: what is used after the pivots, not during them
    double *primal;       // (N + M,), the value of each variable: q, then the slacks
    double *dual;         // (N + M,), the price of each variable: those of q, then p
    double *row_sums;     // (M,), Bq
    double *column_sums;  // (N,), B'p
    double *row_steps;    // (M,)
    double *column_steps; // (N,)
    double *column_parts; // (WARPS, N)
    Real *rest;           // (M - SHARED_ROWS, STRIDE), the other rows of T
};
constexpr int SCRATCH_NUMBERS = 4 * (N + M) + WARPS * N;

extern __shared__ __align__(16) unsigned char memory[];  // (SHARED_ROWS, STRIDE) of Real
__shared__ __align__(16) Real row[STRIDE];               // the pivot row, or what is multiplied with T
__shared__ __align__(16) Real squares[GROUPS * STRIDE];  // of the columns, by group
__shared__ Real factor[M];                               // the pivot column, or what is multiplied with T
__shared__ double b[M], e[M], c[N];
__shared__ short basic[M], nonbasic[N];
__shared__ unsigned slopes[WARPS], columns[WARPS];       // what each warp has found
__shared__ unsigned long long orders[WARPS];
__shared__ double parts[WARPS];
__shared__ Move move;
__shared__ int next_matrix;

__device__ Real *shared_rows() { return reinterpret_cast<Real *>(memory); }

__device__ Real entry(const Scratch &w, int i, int j) {
    return i < SHARED_ROWS ? shared_rows()[i * STRIDE + j] : w.rest[(i - SHARED_ROWS) * STRIDE + j];
}

// Over a warp and over a block

__device__ double warp_sum(double x) {
    for (int far = WARP / 2; far > 0; far /= 2) x += __shfl_xor_sync(ALL, x, far);
    return x;
}

__device__ unsigned long long order_of(double x) {  // a whole number that is larger where x is
    const unsigned long long bits = __double_as_longlong(x);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

__device__ unsigned long long warp_most(unsigned long long order) {
    // the processor has one instruction for 32 bits
    const unsigned upper = __reduce_max_sync(ALL, unsigned(order >> 32));
    const unsigned lower = __reduce_max_sync(ALL, order >> 32 == upper ? unsigned(order) : 0u);
    return (unsigned long long)upper << 32 | lower;
}

__device__ double warp_max(double x) {
    const unsigned long long order = warp_most(order_of(x));
    return __longlong_as_double(order >> 63 ? order & ~(1ull << 63) : ~order);
}

__device__ double warp_min(double x) { return -warp_max(-x); }

__device__ Choice better(Choice one, Choice other) {
    const bool first = one.score > other.score || (one.score == other.score && one.at <= other.at);
    return other.at < 0 || (one.at >= 0 && first) ? one : other;
}

__device__ int warp_best(Choice best) {
    const unsigned long long order = best.at < 0 ? 0 : order_of(best.score);
    const unsigned long long most = warp_most(order);
    return most == 0 ? -1 : int(__reduce_min_sync(ALL, order == most ? unsigned(best.at) : ALL));
}

__device__ double block_max(double x) {
    x = warp_max(x);
    __syncthreads();  // whoever still reads parts
    if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = x;
    __syncthreads();
    for (int k = 0; k < WARPS; k++) x = fmax(x, parts[k]);
    return x;
}

__device__ double block_min(double x) { return -block_max(-x); }

__device__ double block_sum(double x) {
    x = warp_sum(x);
    __syncthreads();
    if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = x;
    __syncthreads();
    x = 0;
    for (int k = 0; k < WARPS; k++) x += parts[k];
    return x;
}

__device__ int block_best(Choice best) {
    const unsigned long long order = best.at < 0 ? 0 : order_of(best.score);
    const unsigned long long most = warp_most(order);
    const unsigned at = __reduce_min_sync(ALL, order == most && most > 0 ? unsigned(best.at) : ALL);
    __syncthreads();
    if (threadIdx.x % WARP == 0) {
        orders[threadIdx.x / WARP] = most;
        columns[threadIdx.x / WARP] = at;
    }
    __syncthreads();
    unsigned long long highest = 0;
    unsigned found = ALL;
    for (int k = 0; k < WARPS; k++)
        if (orders[k] > highest || (orders[k] == highest && columns[k] < found)) {
            highest = orders[k];
            found = columns[k];
        }
    return int(found);
}

__device__ double number(double x) { return x < NONE ? x : NONE; }  // not-a-number counts as too large

// Pivots: kernels/tableau.py

__device__ Vector eliminated(Vector t, Real f, const Vector &pivot_row, Vector &square) {
#pragma unroll
    for (int k = 0; k < VECTOR; k++) {
        t.lane[k] -= f * pivot_row.lane[k];
        square.lane[k] += t.lane[k] * t.lane[k];
    }
    return t;
}

__device__ void sweep(const Scratch &w, const Vector &pivot_row, int r) {
    // `_eliminate`: subtract factor x pivot_row from T, each thread in its vector; row r is the pivot's, or -1
    const int v = threadIdx.x % VECTORS, group = threadIdx.x / VECTORS;
    if (group < GROUPS) {
        auto of_row = [&](int i) { return i == r ? factor[i] - 1 : factor[i]; };
        Vector *shared = reinterpret_cast<Vector *>(shared_rows()) + v, *rest = reinterpret_cast<Vector *>(w.rest) + v;
        constexpr int STEP = STRIDE / VECTOR;
        Vector square = {};
#pragma unroll 4
        for (int i = group; i < SHARED_ROWS; i += GROUPS)
            shared[i * STEP] = eliminated(shared[i * STEP], of_row(i), pivot_row, square);
#pragma unroll 4
        for (int i = SHARED_ROWS + group; i < M; i += GROUPS) {
            Vector &here = rest[(i - SHARED_ROWS) * STEP];
            here = eliminated(here, of_row(i), pivot_row, square);
        }
        reinterpret_cast<Vector *>(squares + group * STRIDE)[v] = square;
    }
    __syncthreads();
}

__device__ void pivot(const Scratch &w, int r, int s, double right) {
    // `_pivot`: exchange the variables of row r and column s; factor holds column s, and right is b[r]
    const int thread = threadIdx.x, v = thread % VECTORS;
    const Real entering = factor[r], inverse = 1 / entering;
    const double step = right * inverse, tie_step = e[r] * inverse, price = c[s];
    Vector pivot_row = r < SHARED_ROWS ? reinterpret_cast<Vector *>(shared_rows() + r * STRIDE)[v]
                                       : reinterpret_cast<Vector *>(w.rest + (r - SHARED_ROWS) * STRIDE)[v];
#pragma unroll
    for (int k = 0; k < VECTOR; k++) pivot_row.lane[k] = v * VECTOR + k == s ? 1 + inverse : pivot_row.lane[k] * inverse;
    if (thread < VECTORS) reinterpret_cast<Vector *>(row)[v] = pivot_row;
    __syncthreads();  // everybody has read what is about to change
    for (int i = thread; i < M; i += THREADS) {
        // with factor[r] - 1 and 1 + inverse, one formula is right for row r and column s too
        const Real f = i == r ? entering - 1 : factor[i];
        b[i] = (i == r ? right : b[i]) - f * step;
        e[i] -= f * tie_step;
    }
    for (int j = thread; j < N; j += THREADS) c[j] -= price * row[j];
    if (thread == 0) {
        const short leaves = basic[r];
        basic[r] = nonbasic[s];
        nonbasic[s] = leaves;
    }
    sweep(w, pivot_row, r);
}

__device__ int steepest_column(double zero) {
    // `_choose_column`: the steepest edge, or -1 where none improves. Slopes are compared in single precision
    unsigned most = 0;
    int first = -1;
    for (int j = threadIdx.x; j < N; j += THREADS) {
        const double gain = c[j] - zero;
        if (gain > 0) {
            Real norm = 1;
#pragma unroll
            for (int group = 0; group < GROUPS; group++) norm += squares[group * STRIDE + j];
            const unsigned slope = __float_as_uint(fmaxf(__fdividef(float(gain) * float(gain), float(norm)), 1e-37f));
            if (slope > most) {
                most = slope;
                first = j;
            }
        }
    }
    const unsigned steepest = __reduce_max_sync(ALL, most);
    const unsigned at = __reduce_min_sync(ALL, most == steepest ? unsigned(first) : ALL);
    const int lane = threadIdx.x % WARP;
    if (lane == 0) {
        slopes[threadIdx.x / WARP] = steepest;
        columns[threadIdx.x / WARP] = at;
    }
    __syncthreads();
    const unsigned slope = lane < WARPS ? slopes[lane] : 0, highest = __reduce_max_sync(ALL, slope);
    return int(__reduce_min_sync(ALL, lane < WARPS && slope == highest ? columns[lane] : ALL));
}

__device__ int least_tie_part(double step, double zero) {
    // `_tie`: of the rows that tie in b, the one of least tie part leaves; but not by a pivot that ruins T
    Real largest = 0;
    for (int i = threadIdx.x; i < M; i += THREADS)
        if (factor[i] > Real(TINY) && b[i] - step * factor[i] <= zero) largest = fmax(largest, factor[i]);
    const double least_share = SHARE * block_max(largest);
    Choice best = {0, -1};
    for (int i = threadIdx.x; i < M; i += THREADS) {
        const Real f = factor[i];
        if (f > Real(TINY) && f >= least_share && b[i] - step * f <= zero) best = better(best, {-e[i] / f, i});
    }
    return block_best(best);
}

__device__ double reciprocal(double x) {
    // of a number that is not tiny, to some 1e-15: two of Newton's steps from single precision, faster than a division
    double y = __frcp_rn(float(x));
    y = y * (2 - x * y);
    return y * (2 - x * y);
}

__device__ int choose_row(const Scratch &w, int s, double zero) {
    // `_choose_row`: the row of least ratio of b to column s, ties by the tie part, or -1; leaves the column in factor
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    double least = NONE;
    for (int i = threadIdx.x; i < M; i += THREADS) {
        const Real f = factor[i] = entry(w, i, s);
        if (f > Real(TINY)) least = fmin(least, (b[i] + zero) * reciprocal(f));
    }
    least = warp_min(least);
    if (lane == 0) parts[warp] = least;
    __syncthreads();
    const double step = warp_min(lane < WARPS ? parts[lane] : NONE);
    if (!(step < NONE)) return -1;
    unsigned ties = 0, found = ALL;
    for (int i = threadIdx.x; i < M; i += THREADS)
        if (factor[i] > Real(TINY) && b[i] - step * factor[i] <= zero) {
            ties++;
            found = min(found, unsigned(i));
        }
    ties = __reduce_add_sync(ALL, ties);
    found = __reduce_min_sync(ALL, found);
    if (lane == 0) {
        slopes[warp] = ties;
        columns[warp] = found;
    }
    __syncthreads();
    if (__reduce_add_sync(ALL, lane < WARPS ? slopes[lane] : 0) > 1) return least_tie_part(step, zero);
    return int(__reduce_min_sync(ALL, lane < WARPS ? columns[lane] : ALL));
}

__device__ __noinline__ int primal(const Scratch &w, double zero, int limit) {
    // the number of pivots until no reduced cost exceeds zero, or -1 if it cannot go on
    __syncthreads();
    for (int pivots = 0; pivots < limit; pivots++) {
        const int s = steepest_column(zero);
        if (s < 0) return pivots;
        const int r = choose_row(w, s, zero);
        if (r < 0) return -1;
        pivot(w, r, s, fmax(b[r], 0.0));
    }
    return -1;
}

__device__ double largest_in_row(const Scratch &w, int r) {
    double largest = 1;
    for (int j = threadIdx.x; j < N; j += WARP) largest = fmax(largest, double(fabs(entry(w, r, j))));
    return warp_max(largest);
}

__device__ int choose_row_to_repair(const Scratch &w, double zero) {
    // the row that leaves in `dual`, by one warp: the least b below zero, else the least tie part below zero
    const int lane = threadIdx.x;
    Choice best = {0, -1};
    for (int i = lane; i < M; i += WARP)
        if (b[i] < -zero) best = better(best, {-b[i], i});
    int r = warp_best(best);
    if (r >= 0) return r;
    Choice last = {NONE, -1};  // that was refused
    for (;;) {
        for (int i = lane; i < M; i += WARP) {
            const Choice here = {-e[i], i};
            const bool after = here.score < last.score || (here.score == last.score && i > last.at);
            if (b[i] <= zero && e[i] < -TINY && after) best = better(best, here);
        }
        r = warp_best(best);
        if (r < 0 || -e[r] > TINY * largest_in_row(w, r)) return r;
        last = {-e[r], r};
        best = {0, -1};
    }
}

__device__ int choose_column_to_repair(const Scratch &w, int r, double zero) {
    // the column that enters in `dual`, by one warp: the least cost, of equal ones the largest entry; -1: none
    const double largest = largest_in_row(w, r);
    Choice best = {0, -1};
    for (int j = threadIdx.x; j < N; j += WARP) {
        const double size = -entry(w, r, j);
        if (size > TINY * largest) best = better(best, {-(c[j] < -zero ? -c[j] : 0.0) / size, j});
    }
    const double least = -warp_max(best.at < 0 ? -NONE : best.score);
    best = {0, -1};
    for (int j = threadIdx.x; j < N; j += WARP) {
        const double size = -entry(w, r, j);
        if (size > TINY * largest && (c[j] < -zero ? -c[j] : 0.0) / size == least) best = better(best, {size, j});
    }
    return warp_best(best);
}

__device__ __noinline__ int dual(const Scratch &w, double zero, int limit) {
    // the number of pivots until no right-hand side is negative, nor zero with a negative tie part; -1 as in primal
    int pivots = 0;
    for (int k = 0; k < limit; k++) {
        __syncthreads();
        if (threadIdx.x < WARP) {
            const int r = choose_row_to_repair(w, zero);
            const int s = r < 0 ? -1 : choose_column_to_repair(w, r, zero);
            __syncwarp();
            if (threadIdx.x == 0) move = {r, s, r < 0 ? 0.0 : b[r]};
        }
        __syncthreads();
        const Move next = move;
        if (next.row < 0) return pivots;
        if (next.column >= 0) {
            for (int i = threadIdx.x; i < M; i += THREADS) factor[i] = entry(w, i, next.column);
            __syncthreads();
            pivot(w, next.row, next.column, next.right);
            pivots++;
            continue;
        }
        if (next.right < -LOOSE) return -1;
        if (threadIdx.x == 0) b[next.row] = e[next.row] = 0;  // nothing in the row can make up for it: a rounded zero
    }
    return -1;
}

// From a tableau to an answer: kernels/refine.py

template <class Matrix, class Left, class Right>
__device__ void products(const Scratch &w, Matrix matrix, const Left *p, const Right *q, double *row_sums,
                         double *column_sums) {
    // `_products`: row_sums = matrix q and column_sums = matrix' p, in one sweep
    constexpr int ROWS = LANE_COLUMNS <= 4 ? 4 : LANE_COLUMNS <= 8 ? 2 : 1;  // at a time, to have more loads under way
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
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
        if (lane + k * WARP < N) w.column_parts[warp * N + lane + k * WARP] = column[k];
    __syncthreads();
    for (int j = threadIdx.x; j < N; j += THREADS) {
        double sum = 0;
#pragma unroll 8
        for (int k = 0; k < WARPS; k++) sum += w.column_parts[k * N + j];
        column_sums[j] = sum;
    }
    __syncthreads();
}

__device__ __noinline__ bool refine(const Scratch &w, Payoffs B) {
    // `_refine`: the p and q of this basis by iterative refinement, b and c from them. False if it diverges
    const int thread = threadIdx.x;
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
        products(w, B, w.dual + N, w.primal, w.row_sums, w.column_sums);
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
        if (error <= 0.1 * EXACT) return true;
        if (!(error < 0.5 * before)) return false;
        before = error;
        products(w, [&](int i, int j) { return entry(w, i, j); }, factor, row, w.row_steps, w.column_steps);
        for (int i = thread; i < M; i += THREADS) w.primal[basic[i]] += w.row_steps[i];
        for (int s = thread; s < N; s += THREADS) w.dual[nonbasic[s]] += w.column_steps[s];
        __syncthreads();
    }
    return false;
}

__device__ __noinline__ void tie_parts(const Scratch &w, const double *weight) {
    // e, the part of the right-hand side that belongs to the perturbation 1 + epsilon * weight
    const int thread = threadIdx.x;
    for (int s = thread; s < N; s += THREADS) row[s] = nonbasic[s] >= N ? weight[nonbasic[s] - N] : 0;
    __syncthreads();
    products(w, [&](int i, int j) { return entry(w, i, j); }, factor, row, w.row_steps, w.column_steps);
    for (int i = thread; i < M; i += THREADS) e[i] = w.row_steps[i] + (basic[i] >= N ? weight[basic[i] - N] : 0);
    __syncthreads();
}

__device__ __noinline__ bool ties_hold(const Scratch &w, Payoffs B, const double *weight) {
    // `_ties_hold`: whether e solves B e + slack = weight
    const int thread = threadIdx.x;
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
        error = fmax(error, number(fabs(warp_sum(sum) + w.row_steps[i] - weight[i])));
    }
    return block_max(error) <= most;
}

__device__ int settle(const Scratch &w, Payoffs B, const double *weight) {
    // refine, and pivot on until the basis is optimal in double precision, ties included; -1 if it cannot go on
    int pivots = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (!refine(w, B)) return -1;
        double least = NONE, most = -NONE;
        for (int i = threadIdx.x; i < M; i += THREADS) least = fmin(least, b[i]);
        for (int s = threadIdx.x; s < N; s += THREADS) most = fmax(most, c[s]);
        least = block_min(least);
        most = block_max(most);
        if (least > EXACT && most <= EXACT) return pivots;
        tie_parts(w, weight);
        const int repairs = dual(w, EXACT, M + N);
        const int improvements = repairs < 0 ? -1 : primal(w, EXACT, M + N);
        if (improvements < 0) return -1;
        if (repairs + improvements == 0) return ties_hold(w, B, weight) ? pivots : -1;
        pivots += repairs + improvements;
    }
    return -1;
}

// The whole: kernels/simplex.py

__device__ __noinline__ void begin(const Scratch &w, Payoffs B, const double *weight) {
    // `_begin`: the tableau of B with every slack basic
    const int thread = threadIdx.x;
    for (int i = thread; i < M; i += THREADS) {
        b[i] = 1;
        e[i] = weight[i];
        basic[i] = N + i;
    }
    for (int j = thread; j < N; j += THREADS) {
        c[j] = 1;
        nonbasic[j] = j;
    }
    for (int at = thread; at < M * STRIDE; at += THREADS) {
        const int i = at / STRIDE, j = at % STRIDE;
        const Real here = j < N ? Real(B(i, j)) : Real(0);
        if (i < SHARED_ROWS) shared_rows()[at] = here;
        else w.rest[at - SHARED_ROWS * STRIDE] = here;
    }
    for (int i = thread; i < M; i += THREADS) factor[i] = 0;
    __syncthreads();
    sweep(w, {}, -1);  // subtracts nothing, and leaves the squares
}

__device__ void write_answer(const Scratch &w, Payoffs B, double high, double *strategy, double *opponent,
                             double *value, double *gap) {
    // `bounds`, and what becomes of them
    const int thread = threadIdx.x;
    double *p = w.dual + N, *q = w.primal;
    double total_p = 0, total_q = 0;
    for (int i = thread; i < M; i += THREADS) {
        if (p[i] < ROUNDING) p[i] = 0;
        total_p += p[i];
    }
    for (int j = thread; j < N; j += THREADS) {
        if (q[j] < ROUNDING) q[j] = 0;
        total_q += q[j];
    }
    total_p = block_sum(total_p);
    total_q = block_sum(total_q);
    products(w, B, p, q, w.row_sums, w.column_sums);
    double lower = NONE, upper = -NONE;
    for (int j = thread; j < N; j += THREADS) lower = fmin(lower, w.column_sums[j]);
    for (int i = thread; i < M; i += THREADS) upper = fmax(upper, w.row_sums[i]);
    lower = block_min(lower) / total_p;
    upper = block_max(upper) / total_q;
    for (int i = thread; i < M; i += THREADS) strategy[i] = p[i] / total_p;
    for (int j = thread; j < N; j += THREADS) opponent[j] = q[j] / total_q;
    if (thread == 0) {
        const double range = (high - B.low) * B.unit;
        *value = B.low + (0.5 * (lower + upper) - 1) / B.unit;
        *gap = (upper - lower) / (range > 0 ? range : 1);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
solve_batch(const double *A, const double *weight, int weights, int runs, double *numbers, Real *rows, int *queue,
            double *strategy, double *opponent, double *value, double *gap, long long *pivots) {
    // Solve every A[k], (runs, M, N), with the tie weights (weights, M), weights being 1 or runs.
    // numbers and rows: working memory, SCRATCH_NUMBERS and (M - SHARED_ROWS) * STRIDE of them for each block.
    // queue: a counter, 0 at first: blocks take the next matrix from it. gap[k] is not a number where the solve fails.
    double *own = numbers + size_t(blockIdx.x) * SCRATCH_NUMBERS;
    const Scratch w = {own, own + (N + M), own + 2 * (N + M), own + 2 * (N + M) + M, own + 3 * (N + M),
                       own + 3 * (N + M) + M, own + 4 * (N + M), rows + size_t(blockIdx.x) * ((M - SHARED_ROWS) * STRIDE)};
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) next_matrix = atomicAdd(queue, 1);
        __syncthreads();
        const int k = next_matrix;
        if (k >= runs) return;
        const double *payoffs = A + size_t(k) * M * N, *ties = weight + (weights > 1 ? size_t(k) * M : 0);
        double low = NONE, high = -NONE;
        for (int at = threadIdx.x; at < M * N; at += THREADS) {
            low = fmin(low, payoffs[at]);
            high = fmax(high, payoffs[at]);
        }
        low = block_min(low);
        high = block_max(high);
        const double span = high != low ? high - low : 1;
        const Payoffs B = {payoffs, low, 1 / span};
        begin(w, B, ties);
        int count = primal(w, ZERO, 10 * (M + N) + 50);
        const int more = count < 0 ? -1 : settle(w, B, ties);
        if (more < 0) {
            if (threadIdx.x == 0) {
                gap[k] = nan("");
                pivots[k] = 0;
            }
            continue;
        }
        if (threadIdx.x == 0) pivots[k] = count + more;
        write_answer(w, B, high, strategy + size_t(k) * M, opponent + size_t(k) * N, value + k, gap + k);
    }
}
