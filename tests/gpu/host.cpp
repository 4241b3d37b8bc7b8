// After the kernel's source: where its shared memory is, and a call for a whole batch.

alignas(16) unsigned char memory[1 << 18];

extern "C" __attribute__((visibility("default"))) int
solve_on_host(const double *A, const double *weight, int weights, int runs, double *strategy, double *opponent,
              double *value, double *gap, long long *pivots) {
    // Returns the number of matrices without an answer, or -1 if threads wait for others that never arrive.
    int counts[3] = {};
    std::vector<int> failed(runs);
    std::vector<Vector> rest((M - SHARED_ROWS) * STRIDE / VECTOR + 1);
    Scratch scratch;
    task = [&] {
        solve_batch(A, weight, weights, runs, nullptr, counts, failed.data(), nullptr, 1, &scratch, &rest[0].lane[0],
                    strategy, opponent, value, gap, pivots);
    };
    return run_block() ? counts[2] : -1;
}
