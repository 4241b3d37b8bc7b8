// Counter-based random numbers: Philox4x32 with ten rounds (Salmon, Moraes, Dror and Shaw 2011).
//
// The numbers of a run depend only on its four key words and on their place in its stream. Two words are the key, two
// are the upper half of the counter, and the lower half counts pairs of numbers.

struct alignas(16) Pair {
    double one, other;
};

__device__ void philox(unsigned word[4], unsigned key0, unsigned key1) {
#pragma unroll
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

__device__ Pair numbers(const unsigned *key, long long pair, bool normal) {
    // two numbers: uniform, or normal by the Box-Muller transform
    unsigned word[4] = {unsigned(pair), unsigned(pair >> 32), key[2], key[3]};
    philox(word, key[0], key[1]);
    const double one = uniform(word[0], word[1]), other = uniform(word[2], word[3]);
    if (!normal) return {one, other};
    const double radius = sqrt(-2 * log(1 - one));
    double sine, cosine;
    sincospi(2 * other, &sine, &cosine);
    return {radius * cosine, radius * sine};
}

extern "C" __global__ void draw(const unsigned *keys, long long start, long long count, int normal,
                                const double *deviation, const double *mean, long long width, int aligned,
                                double *out) {
    // out[r, k] = number start + k of run r, by the blocks of column r; keys: (runs, 4), out: (runs, count).
    // Numbers are multiplied by deviation[r, k % width], and mean[r, k % width] is added, where these are given.
    // Product and sum are rounded one after the other, as in `streams.spread_out`.
    // aligned: true if start, count, width and all addresses allow pairs to be read and written as a whole.
    const long long run = blockIdx.x, end = (start + count + 1) / 2;
    const unsigned *key = keys + 4 * run;
    if (deviation) deviation += run * width;
    if (mean) mean += run * width;
    out += run * count;
    auto write = [&](long long at, double number) {
        if (at < 0 || at >= count) return;
        if (deviation) number = __dmul_rn(number, deviation[at % width]);
        if (mean) number = __dadd_rn(number, mean[at % width]);
        out[at] = number;
    };
    auto write_pair = [&](long long at, Pair both) {
        const long long in_width = width < count ? at % width : at;
        if (deviation) {
            const Pair by = *reinterpret_cast<const Pair *>(deviation + in_width);
            both = {__dmul_rn(both.one, by.one), __dmul_rn(both.other, by.other)};
        }
        if (mean) {
            const Pair by = *reinterpret_cast<const Pair *>(mean + in_width);
            both = {__dadd_rn(both.one, by.one), __dadd_rn(both.other, by.other)};
        }
        *reinterpret_cast<Pair *>(out + at) = both;
    };
    const long long step = gridDim.y * (long long)blockDim.x;
    for (long long pair = start / 2 + blockIdx.y * (long long)blockDim.x + threadIdx.x; pair < end; pair += step) {
        const Pair drawn = numbers(key, pair, normal);
        const long long at = 2 * pair - start;
        if (aligned) {
            write_pair(at, drawn);
        } else {
            write(at, drawn.one);
            write(at + 1, drawn.other);
        }
    }
}
