// Certified maximin strategies of a batch, with one block of threads per matrix. This part has the memory layout, and
// the reductions over a warp and over a block. The parts are compiled as one: block, tableau, refine, simplex.
//
// The method and the names are those of the CPU's kernel for large matrices: kernels/tableau.py describes the linear
// program, the tableau and the refinement. A function begins with the name of its counterpart there, if it has one.
// There are no warm starts. Matrices without a certified answer are left to the caller.
//
// Memory layout. The first SHARED_ROWS rows of T are in shared memory, the others in global memory. During pivots, each
// thread keeps HELD of the others in registers. A thread updates the same vector of VECTOR columns in every GROUPS-th
// row, so that the sweep also yields the squares of each column. b, c and e are double precision, as on the CPU.
//
// The order in which a sum is added up depends only on the shape. So the answer to a matrix is a function of the
// matrix, its weights and the constants below, to the last bit, in any batch.
//
// Constants that the caller defines: M, N (the shape), REAL (of T: float or double), THREADS, SHARED_ROWS, HELD,
// WARP, BLOCKS (at a time on a multiprocessor), and from kernels/workspace.py MOST_GAP, ZERO, TINY, EXACT, LOOSE,
// NEAR, NUDGE, ROUNDING, SINGULAR, SHARE, TIE_ERROR and TIE_ERROR_RELATIVE.

typedef REAL Real;

constexpr int VECTOR = 16 / sizeof(Real);               // columns that a thread updates at a time
constexpr int VECTORS = (N + VECTOR - 1) / VECTOR;      // of a row
constexpr int STRIDE = (VECTORS + (VECTORS % 8 == 0)) * VECTOR;  // from row to row; not a power of two: see vectors
constexpr int GROUPS = THREADS / VECTORS;               // of threads; each group has all columns
constexpr int WARPS = THREADS / WARP;
constexpr int LANE_COLUMNS = (N + WARP - 1) / WARP;     // columns that a thread of a warp has
constexpr int MOST_COLUMNS = 512;                       // a power of two
constexpr int ROUNDS = 12;                              // as in kernels/tableau.py
constexpr int REFINEMENTS = 8;
constexpr int PATIENCE = 20;                            // as in kernels/tableau.py
constexpr double GOLDEN = 0.6180339887498949;
constexpr unsigned ALL = 0xffffffffu;
constexpr double NONE = 1e300;                          // larger than any number that is compared with it

static_assert(THREADS % WARP == 0 && GROUPS >= 1, "too few threads for a row");
static_assert(WARPS <= WARP && N <= MOST_COLUMNS, "too many threads or columns");

struct alignas(16) Vector {
    Real lane[VECTOR];
};

struct Choice {
    double score;  // the largest is chosen, the first of equal ones
    int at;        // -1: none
};

struct Repair {
    int row, column;  // -1: there is none
    double right;     // b of the row
};

struct Pivot {  // the data of a pivot that all threads need, besides its row
    double right, tie_part, price;  // b and e of the row, c of the column
    Real entry;
};

struct Payoffs {
    const double *A;  // (M, N)
    double low, unit;

    __device__ double operator()(int i, int j) const { return 1 + (A[i * N + j] - low) * unit; }  // B, in [1, 2]
};

struct Scratch {  // in global memory; used after the pivots, not during them
    double primal[N + M];     // the value of each variable: q, then the slacks
    double dual[N + M];       // the price of each variable: the prices of q, then p
    double row_sums[M];       // Bq
    double column_sums[N];    // B'p
    double row_steps[M], column_steps[N];
    double column_parts[WARPS][N];
};

struct Problem {  // the matrix that the block solves
    Payoffs B;
    double high;           // the largest payoff
    const double *weight;  // (M,), of ties; null: any optimal strategy will do
    Scratch *scratch;
    Real *rest;  // (M - SHARED_ROWS, STRIDE), the other rows of T
};

extern __shared__ __align__(16) unsigned char memory[];  // (SHARED_ROWS, STRIDE) of Real
__shared__ __align__(16) Real row[STRIDE];               // the pivot row, or a vector to multiply by T
__shared__ __align__(16) Real squares[GROUPS * STRIDE];  // of the columns, by group
__shared__ __align__(16) Real factor[M];                 // the pivot column, or a vector to multiply by T
__shared__ double b[M], e[M], c[N];
__shared__ short basic[M], nonbasic[N];
__shared__ unsigned slopes[WARPS], places[WARPS];        // the result of each warp
__shared__ unsigned long long orders[WARPS];
__shared__ double parts[WARPS];
__shared__ Problem problem;                              // not in registers, where it would displace rows
__shared__ Pivot next_pivot;
__shared__ Repair next_repair;
__shared__ int next_matrix;

__device__ int this_thread() {
    // threadIdx.x, read again each time, so that values computed from it are not kept in registers between pivots
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}

__device__ Real *row_of(int i) {  // of T
    return i < SHARED_ROWS ? reinterpret_cast<Real *>(memory) + i * STRIDE : problem.rest + (i - SHARED_ROWS) * STRIDE;
}

__device__ Vector &vector_of(int i, int v) { return reinterpret_cast<Vector *>(row_of(i))[v]; }

__device__ Real entry(int i, int j) { return row_of(i)[j]; }

__device__ double weight_of(int i) { return problem.weight ? problem.weight[i] : 0; }

// Reductions over a warp

__device__ double warp_sum(double x) {
    for (int far = WARP / 2; far > 0; far /= 2) x += __shfl_xor_sync(ALL, x, far);
    return x;
}

__device__ unsigned long long order_of(double x) {  // an integer that increases with x
    const unsigned long long bits = __double_as_longlong(x);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

__device__ double number_of(unsigned long long order) {  // the number that has this order
    return __longlong_as_double(order >> 63 ? order & ~(1ull << 63) : ~order);
}

__device__ unsigned long long warp_most(unsigned long long order) {
    // in two halves: the instruction takes 32 bits
    const unsigned upper = __reduce_max_sync(ALL, unsigned(order >> 32));
    const unsigned lower = __reduce_max_sync(ALL, order >> 32 == upper ? unsigned(order) : 0u);
    return (unsigned long long)upper << 32 | lower;
}

__device__ double warp_max(double x) { return number_of(warp_most(order_of(x))); }

__device__ Choice better(Choice one, Choice other) {
    const bool first = one.score > other.score || (one.score == other.score && one.at <= other.at);
    return other.at < 0 || (one.at >= 0 && first) ? one : other;
}

__device__ int warp_best(Choice best) {
    const unsigned long long order = best.at < 0 ? 0 : order_of(best.score);
    const unsigned long long most = warp_most(order);
    return most == 0 ? -1 : int(__reduce_min_sync(ALL, order == most ? unsigned(best.at) : ALL));
}

// Reductions over a block

__device__ double block_max(double x) {
    x = warp_max(x);
    __syncthreads();  // other threads may still read parts
    if (this_thread() % WARP == 0) parts[this_thread() / WARP] = x;
    __syncthreads();
    for (int k = 0; k < WARPS; k++) x = fmax(x, parts[k]);
    return x;
}

__device__ double block_min(double x) { return -block_max(-x); }

__device__ double block_sum(double x) {
    x = warp_sum(x);
    __syncthreads();
    if (this_thread() % WARP == 0) parts[this_thread() / WARP] = x;
    __syncthreads();
    x = 0;
    for (int k = 0; k < WARPS; k++) x += parts[k];
    return x;
}

struct Best {
    int at;  // -1: none
    double score;
};

__device__ Best block_best(Choice best) {
    // This has one barrier; another barrier must precede the next call
    const int lane = this_thread() % WARP, warp = this_thread() / WARP;
    const unsigned long long order = best.at < 0 ? 0 : order_of(best.score), most = warp_most(order);
    const unsigned at = __reduce_min_sync(ALL, order == most ? unsigned(best.at) : ALL);
    if (lane == 0) {
        orders[warp] = most;
        places[warp] = at;
    }
    __syncthreads();
    const unsigned long long here = lane < WARPS ? orders[lane] : 0, highest = warp_most(here);
    const int found = int(__reduce_min_sync(ALL, lane < WARPS && here == highest ? places[lane] : ALL));
    return {found, number_of(highest)};
}

__device__ double number(double x) { return x < NONE ? x : NONE; }  // NaN counts as too large
