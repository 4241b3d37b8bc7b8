// The parts of CUDA that the solver's kernel uses, on one CPU core. The threads of a block take turns: each runs until it
// waits for the others of its block or of its warp. So there is only one block, and no data race can be found.

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

using std::max;

#define __device__
#define __global__
#define __shared__
#define __noinline__
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(threads, blocks)

struct {
    int x = 0;
} blockIdx;

static int turn;  // the thread whose turn it is
static ucontext_t scheduler, threads[THREADS];

struct Meeting {
    int size, arrived = 0, held = 0;       // held: how many meetings there have been
    unsigned long long brought[2][THREADS];  // by this meeting and by the one before, which some may still be leaving
};

static Meeting block = {THREADS}, warps[THREADS / WARP];
static long long arrivals;

template <class Value>
const unsigned long long *meet(Meeting &meeting, Value value) {
    // wait for all threads, and read what each has brought
    const int now = meeting.held;
    unsigned long long *brought = meeting.brought[now % 2];
    unsigned long long bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    brought[turn % meeting.size] = bits;
    arrivals++;
    if (++meeting.arrived == meeting.size) {
        meeting.arrived = 0;
        meeting.held++;
    }
    while (meeting.held == now) swapcontext(&threads[turn], &scheduler);
    return brought;
}

template <class Value>
const unsigned long long *meet_warp(Value value) {
    return meet(warps[turn / WARP], value);
}

static void __syncthreads() { meet(block, 0); }
static void __syncwarp() { meet_warp(0); }

static int __syncthreads_count(int value) {
    const unsigned long long *brought = meet(block, value != 0);
    return int(std::count(brought, brought + THREADS, 1ull));
}

static int __syncthreads_or(int value) { return __syncthreads_count(value) > 0; }

static unsigned __reduce_max_sync(unsigned, unsigned value) {
    const unsigned long long *brought = meet_warp(value);
    return unsigned(*std::max_element(brought, brought + WARP));
}

static unsigned __reduce_min_sync(unsigned, unsigned value) {
    const unsigned long long *brought = meet_warp(value);
    return unsigned(*std::min_element(brought, brought + WARP));
}

template <class To, class From>
To bits_as(From value) {
    To result;
    static_assert(sizeof result == sizeof value, "as many bits");
    std::memcpy(&result, &value, sizeof result);
    return result;
}

static double __shfl_xor_sync(unsigned, double value, int far) {
    return bits_as<double>(meet_warp(value)[turn % WARP ^ far]);
}

static unsigned __float_as_uint(float value) { return bits_as<unsigned>(value); }
static long long __double_as_longlong(double value) { return bits_as<long long>(value); }
static double __longlong_as_double(unsigned long long value) { return bits_as<double>(value); }
static float __fdividef(float one, float other) { return one / other; }

static int atomicAdd(int *at, int value) {
    const int before = *at;
    *at += value;
    return before;
}

static std::function<void()> task;
static bool done[THREADS];

static void begin_thread() {
    task();
    done[turn] = true;
    swapcontext(&threads[turn], &scheduler);
}

static bool run_block() {
    // false if threads wait for others that never arrive
    constexpr size_t STACK = 1 << 17;
    std::vector<char> stacks(THREADS * STACK);
    for (Meeting &warp : warps) warp.size = WARP;
    for (int thread = 0; thread < THREADS; thread++) {
        done[thread] = false;
        getcontext(&threads[thread]);
        threads[thread].uc_stack.ss_sp = &stacks[thread * STACK];
        threads[thread].uc_stack.ss_size = STACK;
        makecontext(&threads[thread], begin_thread, 0);
    }
    for (;;) {
        const long long before = arrivals;
        bool all_done = true;
        for (turn = 0; turn < THREADS; turn++)
            if (!done[turn]) {
                swapcontext(&scheduler, &threads[turn]);
                all_done = all_done && done[turn];
            }
        if (all_done) return true;
        if (arrivals == before) return false;
    }
}
