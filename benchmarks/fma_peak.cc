// Multiply-adds per second with nothing in the way: independent chains in registers, no memory.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#ifdef __AVX512F__
constexpr int bytes = 64;
#else
constexpr int bytes = 32;
#endif
constexpr int chains = 12;
constexpr long rounds = 4'000'000;
typedef float Vec __attribute__((vector_size(bytes)));

// Separate variables, because GCC keeps an array of them in memory. The empty statement pins one
// multiply-add in a register each time, so that nothing is folded or reordered.
#define EACH(do) do(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11)
#define START(c) Vec sum##c = shift + float(c);
#define STEP(c)                     \
  sum##c = sum##c * scale + shift;  \
  asm volatile("" : "+v"(sum##c));
#define GATHER(c) total += sum##c;

static void run(float seed, float* out) {
  Vec scale, shift, total = {};
  for (int lane = 0; lane < bytes / 4; ++lane) scale[lane] = seed, shift[lane] = 1e-7f;
  EACH(START)
  for (long i = 0; i < rounds; ++i) {
    EACH(STEP)
  }
  EACH(GATHER)
  *out = total[0];
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  double best = 0;
  std::vector<float> out(threads * 64);
  for (int repeat = 0; repeat < 100; ++repeat) {
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
