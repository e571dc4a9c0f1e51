// Plain checks: each failure is printed, and `verdict` is what main returns.
#pragma once

#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace denots::check {

inline std::int64_t checks = 0, failures = 0;

__attribute__((format(printf, 2, 3))) inline void expect(bool holds, const char* claim, ...) {
  constexpr std::int64_t most_printed = 20;
  ++checks;
  if (holds || ++failures > most_printed) return;
  std::va_list values;
  va_start(values, claim);
  std::fputs("FAILED: ", stderr);
  std::vfprintf(stderr, claim, values);
  std::fputc('\n', stderr);
  va_end(values);
}

// NaN is near nothing.
inline void expect_near(long double found, long double wanted, long double tolerance, const char* what) {
  expect(std::fabs(found - wanted) <= tolerance, "%s: found %.17Lg, expected %.17Lg within %.3Lg", what,
         found, wanted, tolerance);
}

inline int verdict(const char* program) {
  std::printf("%s: %lld checks, %lld failed\n", program, static_cast<long long>(checks),
              static_cast<long long>(failures));
  return failures == 0 && checks > 0 ? 0 : 1;
}

// Heap memory of exactly this many numbers, aligned as the kernels expect it.
template <class T>
class Aligned {
 public:
  explicit Aligned(std::int64_t size, T fill = T(0))
      : size_(size), data_(static_cast<T*>(std::aligned_alloc(64, rounded(size)))) {
    if (data_ == nullptr) std::abort();
    for (std::int64_t i = 0; i < size; ++i) data_[i] = fill;
  }
  ~Aligned() { std::free(data_); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;

  T* data() { return data_; }
  T& operator[](std::int64_t i) { return data_[i]; }
  std::int64_t size() const { return size_; }

 private:
  static std::size_t rounded(std::int64_t size) {
    return (static_cast<std::size_t>(size) * sizeof(T) + 63) / 64 * 64;
  }
  std::int64_t size_;
  T* data_;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low = 0.0, double high = 1.0) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }
  double symmetric(double size = 1.0) { return uniform(-size, size); }
  std::int64_t integer(std::int64_t low, std::int64_t high) {  // both included
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(double probability) { return uniform() < probability; }
  template <class Container>
  void fill(Container& to, double size = 1.0) {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(to.size()); ++i)
      to.data()[i] = static_cast<std::remove_reference_t<decltype(to.data()[0])>>(symmetric(size));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace denots::check
