// Multiply-adds per second with nothing in the way: independent chains in registers, no memory.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#ifdef __AVX512F__
constexpr int bytes = 64, chains = 20;
#else
constexpr int bytes = 32, chains = 12;
#endif
typedef float Vec __attribute__((vector_size(bytes)));
constexpr long rounds = 4'000'000;

static void run(float seed, float* out) {
  Vec sum[chains], scale, shift;
  for (int lane = 0; lane < bytes / 4; ++lane) scale[lane] = seed, shift[lane] = 1e-7f;
  for (int c = 0; c < chains; ++c) sum[c] = shift + c;
  for (long i = 0; i < rounds; ++i) {
#pragma GCC unroll 32
    for (int c = 0; c < chains; ++c) {
      sum[c] = sum[c] * scale + shift;
      asm volatile("" : "+x"(sum[c]));  // one multiply-add in a register each time, never folded or reordered
    }
  }
  Vec total = sum[0];
  for (int c = 1; c < chains; ++c) total += sum[c];
  *out = total[0];
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  double best = 0;
  std::vector<float> out(threads * 64);
  for (int repeat = 0; repeat < 7; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> pool;
    for (int i = 0; i < threads; ++i) pool.emplace_back(run, 0.999f, &out[i * 64]);
    for (auto& thread : pool) thread.join();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    const double rate = 2.0 * threads * rounds * chains * (bytes / 4) / spent.count();
    if (rate > best) best = rate;
  }
  std::printf("%.6g\n", best);
  return out[0] == 42.0f;
}
