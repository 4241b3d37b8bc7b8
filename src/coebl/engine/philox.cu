// Counter-based random numbers: Philox4x32 with ten rounds (Salmon, Moraes, Dror and Shaw 2011).
//
// The numbers of a run are a function of its four key words and of their place in its stream, and of nothing else. Two
// words are the key, two are the upper half of the counter, and the lower half counts pairs of numbers.

__device__ void philox(unsigned word[4], unsigned key0, unsigned key1) {
    for (int round = 0; round < 10; round++) {
        const unsigned long long product0 = 0xD2511F53ull * word[0], product1 = 0xCD9E8D57ull * word[2];
        const unsigned upper0 = product0 >> 32, upper1 = product1 >> 32;
        word[0] = upper1 ^ word[1] ^ key0;
        word[1] = unsigned(product1);
        word[2] = upper0 ^ word[3] ^ key1;
        word[3] = unsigned(product0);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

__device__ double uniform(unsigned high, unsigned low) {  // in [0, 1), a multiple of 2**-53
    return double(((unsigned long long)high << 32 | low) >> 11) * 0x1p-53;
}

extern "C" __global__ void draw(const unsigned *keys, long long runs, long long start, long long count, int normal,
                                double *out) {
    // out[r, k] = number start + k of run r, uniform, or normal by Box and Muller; keys: (runs, 4), out: (runs, count)
    const long long first = start / 2, pairs = (start + count + 1) / 2 - first;
    const long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    const long long run = thread / pairs, pair = first + thread % pairs;
    if (run >= runs) return;
    const unsigned *key = keys + 4 * run;
    unsigned word[4] = {unsigned(pair), unsigned(pair >> 32), key[2], key[3]};
    philox(word, key[0], key[1]);
    double one = uniform(word[0], word[1]), other = uniform(word[2], word[3]);
    if (normal) {
        const double radius = sqrt(-2 * log(1 - one));
        double sine, cosine;
        sincospi(2 * other, &sine, &cosine);
        one = radius * cosine;
        other = radius * sine;
    }
    const long long at = 2 * pair - start;  // of the first of the two
    double *here = out + run * count;
    if (at >= 0) here[at] = one;
    if (at + 1 < count) here[at + 1] = other;
}
