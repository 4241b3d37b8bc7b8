// Pivots: kernels/tableau.py

template <int COUNT>
struct Held {
    // COUNT consecutive rows of T in the registers of a thread, of each row only the thread's vector.
    static constexpr int ROWS = COUNT * GROUPS < M - SHARED_ROWS ? COUNT * GROUPS : M - SHARED_ROWS;  // of all threads
    static constexpr int END = SHARED_ROWS + ROWS;                                                    // the next row
    Vector rows[COUNT > 0 ? COUNT : 1];

    static __device__ int owner(int i) { return i >= SHARED_ROWS && i < END ? (i - SHARED_ROWS) / max(COUNT, 1) : -1; }

    template <class Use>
    __device__ __forceinline__ void each(Use use) {  // use(i, row i)
        const int group = this_thread() / VECTORS;
        if (group < GROUPS) {
#pragma unroll
            for (int k = 0; k < COUNT; k++) {
                const int i = SHARED_ROWS + group * COUNT + k;
                if (ROWS == COUNT * GROUPS || i < END) use(i, rows[k]);
            }
        }
    }
};

template <class Number>
__device__ Number reciprocal(Number x) {
    // 1 / x by Newton's method, for x that is not tiny, to the last bit or so. A division would be a call, and a call
    // spills the registers of a thread to memory
    Number y = __fdividef(1, float(x));
    for (int bits = 22; bits < 8 * sizeof(Number) - 8; bits *= 2) y += y * (1 - x * y);
    return y;
}

__device__ Vector eliminated(Vector t, Real f, const Vector &pivot_row, Vector &square) {
#pragma unroll
    for (int k = 0; k < VECTOR; k++) {
        t.lane[k] -= f * pivot_row.lane[k];
        square.lane[k] += t.lane[k] * t.lane[k];
    }
    return t;
}

template <int COUNT>
__device__ __forceinline__ void sweep(Held<COUNT> &held, const Vector &pivot_row) {
    // `_eliminate`: subtract factor x pivot_row from T, each thread in its vector
    const int v = this_thread() % VECTORS, group = this_thread() / VECTORS;
    if (group < GROUPS) {
        Vector square = {};
#pragma unroll 4
        for (int i = group; i < SHARED_ROWS; i += GROUPS) {
            Vector &here = reinterpret_cast<Vector *>(memory)[i * (STRIDE / VECTOR) + v];
            here = eliminated(here, factor[i], pivot_row, square);
        }
        held.each([&](int i, Vector &here) { here = eliminated(here, factor[i], pivot_row, square); });
#pragma unroll 4
        for (int i = Held<COUNT>::END + group; i < M; i += GROUPS) {
            Vector &here = vector_of(i, v);
            here = eliminated(here, factor[i], pivot_row, square);
        }
        reinterpret_cast<Vector *>(squares + group * STRIDE)[v] = square;
    }
    __syncthreads();
}

__device__ int thread_of(int i) { return M <= THREADS ? i : i % THREADS; }  // the owner of b, e and factor of a row

template <int COUNT>
__device__ __forceinline__ void publish(Held<COUNT> &held, int r, int s, double right) {
    // Store the data of a pivot for all threads: row r in `row`, and the rest in next_pivot; right is b[r].
    // With factor[r] - 1 in place of factor[r], and 1 + inverse in row, one formula holds for row r and column s too
    const int thread = this_thread(), v = thread % VECTORS, owner = Held<COUNT>::owner(r);
    if (owner < 0) {
        if (thread < VECTORS) reinterpret_cast<Vector *>(row)[v] = vector_of(r, v);
    } else if (thread / VECTORS == owner) {
        held.each([&](int i, Vector &here) {
            if (i == r) reinterpret_cast<Vector *>(row)[v] = here;
        });
    }
    if (thread == thread_of(r)) {
        next_pivot = {right, e[r], c[s], factor[r]};
        factor[r] -= 1;
    }
}

template <int COUNT>
__device__ __forceinline__ void pivot(Held<COUNT> &held, int r, int s) {
    // `_pivot`: exchange the variables of row r and column s, which are published; factor holds column s
    const int thread = this_thread(), v = thread % VECTORS;
    const Pivot known = next_pivot;
    const Real inverse = reciprocal(known.entry);
    const double step = known.right * inverse, tie_step = known.tie_part * inverse;
    auto of_column = [&](int j, Real here) { return j == s ? 1 + inverse : here * inverse; };
    Vector pivot_row = reinterpret_cast<Vector *>(row)[v];
#pragma unroll
    for (int k = 0; k < VECTOR; k++) pivot_row.lane[k] = of_column(v * VECTOR + k, pivot_row.lane[k]);
    for (int i = thread; i < M; i += THREADS) {
        b[i] = (i == r ? known.right : b[i]) - factor[i] * step;
        e[i] -= factor[i] * tie_step;
    }
    for (int j = thread; j < N; j += THREADS) c[j] -= known.price * of_column(j, row[j]);
    if (thread == 0) {
        const short leaves = basic[r];
        basic[r] = nonbasic[s];
        nonbasic[s] = leaves;
    }
    sweep(held, pivot_row);
}

__device__ int steepest_column(double zero) {
    // `_choose_column`: the steepest edge, or -1 if none improves. Slopes are compared to about four digits: their last
    // bits hold the column, so that the first of equal slopes is the largest
    unsigned most = 0;
    for (int j = this_thread(); j < N; j += THREADS) {
        const double gain = c[j] - zero;
        if (gain > 0) {
            Real norm = 1;
#pragma unroll
            for (int group = 0; group < GROUPS; group++) norm += squares[group * STRIDE + j];
            const float slope = fmaxf(__fdividef(float(gain) * float(gain), float(norm)), 1e-37f);
            most = max(most, (__float_as_uint(slope) | (MOST_COLUMNS - 1)) - j);
        }
    }
    most = __reduce_max_sync(ALL, most);
    const int lane = this_thread() % WARP;
    if (lane == 0) slopes[this_thread() / WARP] = most;
    __syncthreads();
    most = __reduce_max_sync(ALL, lane < WARPS ? slopes[lane] : 0);
    return most == 0 ? -1 : int(~most % MOST_COLUMNS);
}

__device__ int least_tie_part(double step, double zero) {
    // `_tie`: of the rows that tie in b, the one of least tie part leaves, unless its pivot would ruin T
    Real largest = 0;
    for (int i = this_thread(); i < M; i += THREADS)
        if (factor[i] > Real(TINY) && b[i] - step * factor[i] <= zero) largest = fmax(largest, factor[i]);
    const double least_share = SHARE * block_max(largest);
    Choice best = {0, -1};
    for (int i = this_thread(); i < M; i += THREADS) {
        const Real f = factor[i];
        if (f > Real(TINY) && f >= least_share && b[i] - step * f <= zero) 
            best = better(best, {-e[i] * reciprocal(double(f)), i});
    }
    return block_best(best).at;
}

template <int COUNT>
__device__ __forceinline__ void take_column(Held<COUNT> &held, int s) {
    // copy column s of T to factor
    for (int i = this_thread(); i < SHARED_ROWS; i += THREADS) factor[i] = entry(i, s);
    for (int i = Held<COUNT>::END + this_thread(); i < M; i += THREADS) factor[i] = entry(i, s);
    if (this_thread() % VECTORS == s / VECTOR) {
#pragma unroll
        for (int k = 0; k < VECTOR; k++)  // registers cannot be indexed: a loop for each place in the vector
            if (s % VECTOR == k) held.each([&](int i, Vector &here) { factor[i] = here.lane[k]; });
    }
    __syncthreads();
}

template <int COUNT>
__device__ __forceinline__ int choose_row(Held<COUNT> &held, int s, double zero) {
    // `_choose_row`: the row of least ratio of b to column s, ties by the tie part, or -1; the pivot is then published
    Choice best = {-NONE, -1};
    for (int i = this_thread(); i < M; i += THREADS) {
        const Real f = factor[i];
        if (f > Real(TINY)) {
            const double score = -(b[i] + zero) * reciprocal(double(f));
            if (score > best.score) best = {score, i};
        }
    }
    const Best least = block_best(best);
    if (least.at < 0) return -1;
    const double step = -least.score;
    int ties = 0;
    for (int i = this_thread(); i < M; i += THREADS) ties += factor[i] > Real(TINY) && b[i] - step * factor[i] <= zero;
    publish(held, least.at, s, fmax(b[least.at], 0.0));
    const bool tied = __syncthreads_count(ties) > 1 || (M > THREADS && __syncthreads_or(ties > 1));
    if (!tied) return least.at;
    if (this_thread() == thread_of(least.at)) factor[least.at] = next_pivot.entry;  // as it was
    const int r = least_tie_part(step, zero);
    publish(held, r, s, fmax(b[r], 0.0));
    __syncthreads();
    return r;
}

__device__ __noinline__ int primal(double zero, int limit) {
    // pivot until no reduced cost exceeds zero; returns the number of pivots, or -1 if it cannot go on
    const int v = this_thread() % VECTORS;
    Held<HELD> held;
    __syncthreads();
    held.each([&](int i, Vector &here) { here = vector_of(i, v); });
    for (int pivots = 0; pivots < limit; pivots++) {
        const int s = steepest_column(zero);
        if (s < 0) {
            held.each([&](int i, Vector &here) { vector_of(i, v) = here; });
            __syncthreads();
            return pivots;
        }
        take_column(held, s);
        const int r = choose_row(held, s, zero);
        if (r < 0) return -1;
        pivot(held, r, s);
    }
    return -1;
}

__device__ double largest_in_row(int r) {
    double largest = 1;
    for (int j = this_thread(); j < N; j += WARP) largest = fmax(largest, double(fabs(entry(r, j))));
    return warp_max(largest);
}

__device__ int choose_row_to_repair(double zero) {
    // the row that leaves in `dual`, by one warp: the least b below zero, else the least tie part below zero
    const int lane = this_thread();
    Choice best = {0, -1};
    for (int i = lane; i < M; i += WARP)
        if (b[i] < -zero) best = better(best, {-b[i], i});
    int r = warp_best(best);
    if (r >= 0) return r;
    Choice last = {NONE, -1};  // the last row rejected
    for (;;) {
        for (int i = lane; i < M; i += WARP) {
            const Choice here = {-e[i], i};
            const bool after = here.score < last.score || (here.score == last.score && i > last.at);
            if (b[i] <= zero && e[i] < -TINY && after) best = better(best, here);
        }
        r = warp_best(best);
        if (r < 0 || -e[r] > TINY * largest_in_row(r)) return r;
        last = {-e[r], r};
        best = {0, -1};
    }
}

__device__ int choose_column_to_repair(int r, double zero) {
    // the column that enters in `dual`, by one warp: of least cost, then of largest entry; -1: none
    const double largest = largest_in_row(r);
    Choice best = {0, -1};
    for (int j = this_thread(); j < N; j += WARP) {
        const double size = -entry(r, j);
        if (size > TINY * largest) best = better(best, {-(c[j] < -zero ? -c[j] : 0.0) / size, j});
    }
    const double least = -warp_max(best.at < 0 ? -NONE : best.score);
    best = {0, -1};
    for (int j = this_thread(); j < N; j += WARP) {
        const double size = -entry(r, j);
        if (size > TINY * largest && (c[j] < -zero ? -c[j] : 0.0) / size == least) best = better(best, {size, j});
    }
    return warp_best(best);
}

__device__ __forceinline__ int dual(double zero, int limit) {
    // pivot until no right-hand side is negative, nor zero with a negative tie part; returns as `primal` does
    constexpr bool DOUBLE = sizeof(Real) == sizeof(double);
    int pivots = 0;
    Held<0> none;
    for (int i = this_thread(); i < M; i += THREADS)
        if (DOUBLE && fabs(b[i]) <= zero) b[i] = 0;
    for (int k = 0; k < limit; k++) {
        __syncthreads();
        if (this_thread() < WARP) {
            const int r = choose_row_to_repair(zero);
            const int s = r < 0 ? -1 : choose_column_to_repair(r, zero);
            __syncwarp();
            if (this_thread() == 0) next_repair = {r, s, r < 0 ? 0.0 : b[r]};
        }
        __syncthreads();
        const Repair next = next_repair;
        if (next.row < 0) return pivots;
        if (next.column >= 0) {
            take_column(none, next.column);
            publish(none, next.row, next.column, next.right);
            __syncthreads();
            pivot(none, next.row, next.column);
            if (++pivots == PATIENCE && DOUBLE)
                for (int j = this_thread(); j < N; j += THREADS) {
                    const double part = j * GOLDEN;
                    c[j] = fmin(c[j], 0.0) - NUDGE * (1 + part - floor(part));
                }
            continue;
        }
        if (next.right < -LOOSE) return -1;
        if (this_thread() == 0) b[next.row] = e[next.row] = 0;  // no entry of the row can repair it: a rounded zero
    }
    return -1;
}
