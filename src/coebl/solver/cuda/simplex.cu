// The kernel for a graphics processor: certified maximin strategies of a batch, one block of threads a matrix.
//
// The method is that of the kernel for large matrices, and so are the names: see kernels/tableau.py for the linear
// program and the tableau, kernels/refine.py for what follows the pivots. Every function here says which of those it
// is. What it lacks is a warm start, and a tableau computed anew: a matrix that would need one is left to the caller.
//
// Where things are. The first SHARED_ROWS rows of T are in shared memory, the others in global memory. A thread updates
// the same vector of VECTOR columns in every GROUPS-th row, so that the squares of a column come out of the sweep. One
// warp chooses the row; all threads choose the column. b, c and e are double precision, as on the processor.
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
    double step, tie_step, price;
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
    Real *rest;           // (M - SHARED_ROWS, STRIDE), the other rows of T
};
constexpr int SCRATCH_NUMBERS = 2 * (N + M) + 2 * (N + M);

extern __shared__ __align__(16) unsigned char memory[];  // (SHARED_ROWS, STRIDE) of Real
__shared__ __align__(16) Real row[STRIDE];               // the pivot row, or what is multiplied with T
__shared__ __align__(16) Real squares[GROUPS * STRIDE];  // of the columns, by group
__shared__ Real factor[M];                               // the pivot column, or what is multiplied with T
__shared__ double b[M], e[M], c[N];
__shared__ short basic[M], nonbasic[N];
__shared__ Choice choices[WARPS];
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

__device__ double warp_min(double x) {
    for (int far = WARP / 2; far > 0; far /= 2) x = fmin(x, __shfl_xor_sync(ALL, x, far));
    return x;
}

__device__ Choice better(Choice one, Choice other) {
    const bool first = one.score > other.score || (one.score == other.score && one.at <= other.at);
    return other.at < 0 || (one.at >= 0 && first) ? one : other;
}

__device__ Choice warp_best(Choice best) {
    for (int far = WARP / 2; far > 0; far /= 2) {
        Choice other;
        other.score = __shfl_xor_sync(ALL, best.score, far);
        other.at = __shfl_xor_sync(ALL, best.at, far);
        best = better(best, other);
    }
    return best;
}

__device__ double block_min(double x) {
    x = warp_min(x);
    __syncthreads();  // whoever still reads parts
    if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = x;
    __syncthreads();
    for (int k = 0; k < WARPS; k++) x = fmin(x, parts[k]);
    return x;
}

__device__ double block_max(double x) { return -block_min(-x); }

__device__ double block_sum(double x) {
    x = warp_sum(x);
    __syncthreads();
    if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = x;
    __syncthreads();
    x = 0;
    for (int k = 0; k < WARPS; k++) x += parts[k];
    return x;
}

__device__ double number(double x) { return x < NONE ? x : NONE; }  // not-a-number counts as too large

// Pivots: kernels/tableau.py

__device__ void eliminate_rows(Real *T, int first, int last, int v, int group, const Vector &pivot_row, Vector &square) {
    // one part of `_eliminate`
#pragma unroll 4
    for (int i = first + group; i < last; i += GROUPS) {
        Vector &here = reinterpret_cast<Vector *>(T + (i - first) * STRIDE)[v];
        Vector t = here;
        const Real f = factor[i];
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
            t.lane[k] -= f * pivot_row.lane[k];
            square.lane[k] += t.lane[k] * t.lane[k];
        }
        here = t;
    }
}

__device__ void subtract(const Scratch &w, Move m) {
    // factor x row from T, and likewise from b, e and c
    const int thread = threadIdx.x;
    for (int i = thread; i < M; i += THREADS) {
        b[i] -= factor[i] * m.step;
        e[i] -= factor[i] * m.tie_step;
    }
    for (int j = thread; j < N; j += THREADS) c[j] -= m.price * row[j];
    const int v = thread % VECTORS, group = thread / VECTORS;
    if (group < GROUPS) {
        const Vector pivot_row = reinterpret_cast<Vector *>(row)[v];
        Vector square = {};
        eliminate_rows(shared_rows(), 0, SHARED_ROWS, v, group, pivot_row, square);
        if (SHARED_ROWS < M) eliminate_rows(w.rest, SHARED_ROWS, M, v, group, pivot_row, square);
        reinterpret_cast<Vector *>(squares + group * STRIDE)[v] = square;
    }
    __syncthreads();
}

__device__ void price_columns(double zero) {
    // the first half of `_choose_column`: the steepest edge of each warp
    Choice best = {0, -1};
    for (int j = threadIdx.x; j < N; j += THREADS) {
        const double gain = c[j] - zero;
        if (gain > 0) {
            Real norm = 1;
            for (int group = 0; group < GROUPS; group++) norm += squares[group * STRIDE + j];
            best = better(best, {gain * gain / norm, j});
        }
    }
    best = warp_best(best);
    if (threadIdx.x % WARP == 0) choices[threadIdx.x / WARP] = best;
    __syncthreads();
}

__device__ int choose_row(const Scratch &w, int s, double zero) {
    // `_choose_row` and `_tie`, by one warp; leaves column s in factor
    const int lane = threadIdx.x;
    double least = NONE;
    for (int i = lane; i < M; i += WARP) {
        const Real f = factor[i] = entry(w, i, s);
        if (f > Real(TINY)) least = fmin(least, (b[i] + zero) / f);
    }
    const double step = warp_min(least);
    if (!(step < NONE)) return -1;
    double ties = 0, largest = 0;
    Choice first = {0, -1};
    for (int i = lane; i < M; i += WARP) {
        const Real f = factor[i];
        if (f > Real(TINY) && b[i] - step * f <= zero) {
            ties += 1;
            largest = fmax(largest, double(f));
            first = better(first, {0, i});
        }
    }
    if (warp_sum(ties) == 1) return warp_best(first).at;
    largest = -warp_min(-largest);
    Choice best = {0, -1};
    for (int i = lane; i < M; i += WARP) {
        const Real f = factor[i];
        if (f > Real(TINY) && f >= SHARE * largest && b[i] - step * f <= zero) best = better(best, {-e[i] / f, i});
    }
    return warp_best(best).at;
}

__device__ void prepare(const Scratch &w, int r, int s) {
    // the first half of `_pivot`, by one warp; factor holds column s
    const int lane = threadIdx.x;
    __syncwarp();
    const Real inverse = 1 / factor[r];
    for (int j = lane; j < STRIDE; j += WARP) row[j] = entry(w, r, j) * inverse;
    __syncwarp();
    if (lane == 0) {
        row[s] = 1 + inverse;  // these two make one formula right
        factor[r] -= 1;        // for row r and column s too
        move = {r, s, b[r] * inverse, e[r] * inverse, c[s]};
        const short leaves = basic[r];
        basic[r] = nonbasic[s];
        nonbasic[s] = leaves;
    }
}

__device__ __noinline__ int primal(const Scratch &w, double zero, int limit) {
    // the number of pivots until no reduced cost exceeds zero, or -1 if it cannot go on
    for (int pivots = 0; pivots < limit; pivots++) {
        price_columns(zero);
        if (threadIdx.x < WARP) {
            Choice best = {0, -1};
            for (int k = threadIdx.x; k < WARPS; k += WARP) best = better(best, choices[k]);
            const int s = warp_best(best).at;
            const int r = s < 0 ? -1 : choose_row(w, s, zero);
            __syncwarp();
            if (threadIdx.x == 0) {
                if (r < 0) move = {r, s, 0, 0, 0};
                else b[r] = fmax(b[r], 0.0);
            }
            if (r >= 0) prepare(w, r, s);
        }
        __syncthreads();
        const Move next = move;
        if (next.column < 0) return pivots;
        if (next.row < 0) return -1;
        subtract(w, next);
    }
    return -1;
}

__device__ double largest_in_row(const Scratch &w, int r) {
    double largest = 1;
    for (int j = threadIdx.x; j < N; j += WARP) largest = fmax(largest, double(fabs(entry(w, r, j))));
    return -warp_min(-largest);
}

__device__ int choose_row_to_repair(const Scratch &w, double zero) {
    // the row that leaves in `dual`, by one warp: the least b below zero, else the least tie part below zero
    const int lane = threadIdx.x;
    Choice best = {0, -1};
    for (int i = lane; i < M; i += WARP)
        if (b[i] < -zero) best = better(best, {-b[i], i});
    best = warp_best(best);
    if (best.at >= 0) return best.at;
    Choice last = {NONE, -1};  // that was refused
    for (;;) {
        for (int i = lane; i < M; i += WARP) {
            const Choice here = {-e[i], i};
            const bool after = here.score < last.score || (here.score == last.score && i > last.at);
            if (b[i] <= zero && e[i] < -TINY && after) best = better(best, here);
        }
        best = warp_best(best);
        if (best.at < 0 || best.score > TINY * largest_in_row(w, best.at)) return best.at;
        last = best;
        best = {0, -1};
    }
}

__device__ int choose_column_to_repair(const Scratch &w, int r, double zero) {
    // the column that enters in `dual`, by one warp: the least cost, of equal ones the largest entry; -1: none
    const double largest = largest_in_row(w, r);
    Choice best = {0, -1};
    double size = 0;
    for (int j = threadIdx.x; j < N; j += WARP) {
        const double here = -entry(w, r, j);
        if (here > TINY * largest) {
            const Choice cost = {-(c[j] < -zero ? -c[j] : 0.0) / here, j};
            if (best.at < 0 || cost.score > best.score || (cost.score == best.score && here > size)) {
                best = cost;
                size = here;
            }
        }
    }
    for (int far = WARP / 2; far > 0; far /= 2) {
        Choice other;
        other.score = __shfl_xor_sync(ALL, best.score, far);
        other.at = __shfl_xor_sync(ALL, best.at, far);
        const double other_size = __shfl_xor_sync(ALL, size, far);
        const bool tied = best.at >= 0 && other.at >= 0 && best.score == other.score && size != other_size;
        if (tied ? other_size > size : better(best, other).at == other.at) {
            best = other;
            size = other_size;
        }
    }
    return best.at;
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
            if (s >= 0) {
                for (int i = threadIdx.x; i < M; i += WARP) factor[i] = entry(w, i, s);
                prepare(w, r, s);
            } else if (threadIdx.x == 0) {
                move = {r, s, r < 0 ? 0.0 : b[r], 0, 0};
                if (r >= 0 && b[r] >= -LOOSE) b[r] = e[r] = 0;  // nothing in the row can make up for it: a rounded zero
            }
        }
        __syncthreads();
        const Move next = move;
        if (next.row < 0) return pivots;
        if (next.column >= 0) {
            subtract(w, next);
            pivots++;
        } else if (next.step < -LOOSE) return -1;
    }
    return -1;
}

// From a tableau to an answer: kernels/refine.py

template <class Matrix, class Left, class Right>
__device__ void products(Matrix matrix, const Left *p, const Right *q, double *row_sums, double *column_sums) {
    // `_products`: row_sums = matrix q and column_sums = matrix' p
    for (int i = threadIdx.x / WARP; i < M; i += WARPS) {
        double sum = 0;
        for (int j = threadIdx.x % WARP; j < N; j += WARP) sum += matrix(i, j) * q[j];
        sum = warp_sum(sum);
        if (threadIdx.x % WARP == 0) row_sums[i] = sum;
    }
    for (int j = threadIdx.x; j < N; j += THREADS) {
        double sum[4] = {0, 0, 0, 0};
        int i = 0;
        for (; i + 4 <= M; i += 4)
#pragma unroll
            for (int k = 0; k < 4; k++) sum[k] += matrix(i + k, j) * p[i + k];
        for (; i < M; i++) sum[0] += matrix(i, j) * p[i];
        column_sums[j] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
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
        if (error <= 0.1 * EXACT) return true;
        if (!(error < 0.5 * before)) return false;
        before = error;
        products([&](int i, int j) { return entry(w, i, j); }, factor, row, w.row_steps, w.column_steps);
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
    products([&](int i, int j) { return entry(w, i, j); }, factor, row, w.row_steps, w.column_steps);
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
    for (int j = thread; j < STRIDE; j += THREADS) row[j] = 0;
    __syncthreads();
    subtract(w, {0, 0, 0, 0, 0});  // nothing, for the squares
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
    products(B, p, q, w.row_sums, w.column_sums);
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
                       own + 3 * (N + M) + M, rows + size_t(blockIdx.x) * ((M - SHARED_ROWS) * STRIDE)};
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
