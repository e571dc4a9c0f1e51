// Signals of as many series as there are lanes, cut into pieces of time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "denots/oscillators.h"
#include "gemm-inl.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

// A piece lies between two looks at a signal. A series with fewer pieces than another stands still, for no
// time, after its last one.
//
// A channel has rows(): straight lines are their values at the looks; other curves are four rows a piece, the
// coefficients of 1, r, r^2 and r^3 for r in [0, 1].
class Pieces {
 public:
  static constexpr int lanes = Simd<float>::lanes;
  static constexpr std::int64_t abreast = 4;  // rows() of a channel is a multiple of it

  Pieces(const Signals& signals, std::int64_t pieces, const Bank& bank)
      : signals_(signals), most_(static_cast<double>(pieces)), bank_(bank) {
    const float *const from = bank.window, *const to = bank.window + bank.thresholds;
    const auto one = [=](const float* it) {
      return std::all_of(it, it + bank.thresholds, [=](float x) { return x == *it; });
    };
    windows_ = one(from) && one(to) ? 1 : bank.thresholds;
  }

  // Lanes beyond the last series follow the first.
  void cut(const std::int64_t* series, int used) {
    count_ = 1;
    for (int lane = 0; lane < lanes; ++lane) {
      parts_[lane].clear();
      lay_out(series[lane < used ? lane : 0], parts_[lane]);
      count_ = std::max(count_, static_cast<std::int64_t>(parts_[lane].size()));
    }
    rows_ = round_up(curved() ? 4 * count_ : count_ + 1, abreast);
    rows_of_channels_.resize(static_cast<std::size_t>(rows_ * signals_.channels));
    widths_.resize(static_cast<std::size_t>(count_)), paces_.resize(widths_.size());
    overlaps_.resize(static_cast<std::size_t>(count_ * windows_));
    for (int lane = 0; lane < lanes; ++lane) measure(lane);
    curved() ? fill_curves(series, used) : fill_lines(series, used);
  }

  std::int64_t count() const { return count_; }
  bool curved() const { return signals_.slopes != nullptr; }
  std::int64_t rows() const { return rows_; }
  const Lanes* channel(std::int64_t c) const { return rows_of_channels_.data() + c * rows_; }
  FloatV width(std::int64_t piece) const { return widths_[static_cast<std::size_t>(piece)].lanes; }
  // The width, and that of the last piece where a series stands still: what it takes no part in needs no
  // other factors than what came before.
  FloatV pace(std::int64_t piece) const { return paces_[static_cast<std::size_t>(piece)].lanes; }
  // How long each series lasts.
  FloatV whole() const { return whole_.lanes; }
  // One for all thresholds, or one for each.
  std::int64_t windows() const { return windows_; }
  // What share of the window of each threshold lies in a piece.
  const Lanes* overlaps(std::int64_t piece) const { return overlaps_.data() + piece * windows_; }

 private:
  struct Part {
    std::int64_t knot;
    double width;        // of the interval between two knots
    double from, share;  // what this part is of it
  };

  void lay_out(std::int64_t series, std::vector<Part>& parts) const {
    for (std::int64_t knot = signals_.begins[series]; knot + 1 < signals_.ends[series]; ++knot) {
      const double width = signals_.times[knot + 1] - signals_.times[knot];
      if (!(width > 0)) continue;
      const double cuts = std::ceil(width / signals_.spans[series] * most_ - 1e-9);
      const auto count = static_cast<std::int64_t>(std::max(1.0, std::min(cuts, most_)));
      for (std::int64_t k = 0; k < count; ++k)
        parts.push_back({knot, width, static_cast<double>(k) / static_cast<double>(count),
                         1.0 / static_cast<double>(count)});
    }
  }

  void measure(int lane) {
    const std::vector<Part>& parts = parts_[lane];
    double whole = 0;
    float width = 0;
    for (std::size_t piece = 0; piece < widths_.size(); ++piece) {
      const bool lasts = piece < parts.size();
      if (lasts) width = static_cast<float>(parts[piece].width * parts[piece].share);
      widths_[piece].data()[lane] = lasts ? width : 0.0f, paces_[piece].data()[lane] = width;
      whole += lasts ? width : 0.0;
    }
    whole_.data()[lane] = static_cast<float>(whole);
    for (std::int64_t t = 0; t < windows_; ++t) {
      const double from = bank_.window[t] * whole, to = bank_.window[bank_.thresholds + t] * whole,
                   scale = to > from ? 1 / (to - from) : 0.0;
      double begin = 0;
      for (std::int64_t piece = 0; piece < count_; ++piece) {
        const double end = begin + width_of(piece, lane);
        const double shared = std::max(0.0, std::min(end, to) - std::max(begin, from));
        overlaps_[static_cast<std::size_t>(piece * windows_ + t)].data()[lane] =
            static_cast<float>(shared * scale);
        begin = end;
      }
    }
  }

  double width_of(std::int64_t piece, int lane) {
    return widths_[static_cast<std::size_t>(piece)].data()[lane];
  }

  // Before its first part, and after its last one, a series is at a knot.
  std::int64_t knot_of(std::int64_t series, int lane, std::int64_t piece) const {
    const std::vector<Part>& parts = parts_[lane];
    if (piece < static_cast<std::int64_t>(parts.size())) return parts[static_cast<std::size_t>(piece)].knot;
    return parts.empty() ? signals_.begins[series] : parts.back().knot + 1;
  }

  // Looks at knots are read where they stand.
  void fill_lines(const std::int64_t* series, int used) {
    const std::int64_t C = signals_.channels;
    own_.resize(static_cast<std::size_t>(C * lanes));
    for (std::int64_t look = 0; look <= count_; ++look) {
      const float* rows[lanes];
      for (int lane = 0; lane < lanes; ++lane) {
        const std::int64_t knot = knot_of(series[lane < used ? lane : 0], lane, look);
        const float* const here = signals_.values + knot * C;
        const bool within = look < static_cast<std::int64_t>(parts_[lane].size());
        const double from = within ? parts_[lane][static_cast<std::size_t>(look)].from : 0.0;
        rows[lane] = here;
        if (from == 0.0) continue;
        float* const own = own_.data() + lane * C;
        for (std::int64_t c = 0; c < C; ++c) {
          const double a = here[c];
          own[c] = static_cast<float>(a + from * (here[C + c] - a));
        }
        rows[lane] = own;
      }
      turn(C, rows, [=](std::int64_t c) { return c * rows_ + look; });
    }
  }

  void fill_curves(const std::int64_t* series, int used) {
    const std::int64_t numbers = 4 * signals_.channels;
    own_.resize(static_cast<std::size_t>(numbers * lanes));
    for (std::int64_t piece = 0; piece < count_; ++piece) {
      const float* rows[lanes];
      for (int lane = 0; lane < lanes; ++lane) {
        float* const own = own_.data() + lane * numbers;
        rows[lane] = own;
        if (piece < static_cast<std::int64_t>(parts_[lane].size())) {
          fill_curve(parts_[lane][static_cast<std::size_t>(piece)], own);
          continue;
        }
        if (!parts_[lane].empty()) {  // as in its last piece, of which nothing is read but the end
          if (piece == static_cast<std::int64_t>(parts_[lane].size())) fill_curve(parts_[lane].back(), own);
          continue;
        }
        std::fill_n(own, numbers, 0.0f);
        const float* const here =
            signals_.values + signals_.begins[series[lane < used ? lane : 0]] * signals_.channels;
        for (std::int64_t c = 0; c < signals_.channels; ++c) own[4 * c] = here[c];
      }
      turn(numbers, rows, [=](std::int64_t k) { return k / 4 * rows_ + 4 * piece + k % 4; });
    }
  }

  void fill_curve(const Part& part, float* to) const {
    const double width = part.width, from = part.from, share = part.share;
    for (std::int64_t c = 0; c < signals_.channels; ++c) {
      const std::int64_t here = part.knot * signals_.channels + c, there = here + signals_.channels;
      const double a = signals_.values[here], rise = signals_.values[there] - a;
      const double left = signals_.slopes[here] * width, right = signals_.slopes[there] * width;
      const double p1 = left, p2 = 3 * rise - 2 * left - right, p3 = left + right - 2 * rise;
      to[4 * c] = static_cast<float>(a + from * (p1 + from * (p2 + from * p3)));
      to[4 * c + 1] = static_cast<float>((p1 + from * (2 * p2 + from * 3 * p3)) * share);
      to[4 * c + 2] = static_cast<float>((p2 + 3 * from * p3) * share * share);
      to[4 * c + 3] = static_cast<float>(p3 * share * share * share);
    }
  }

  // Numbers of one row for each lane, to the rows place(number) of all lanes.
  template <class Place>
  void turn(std::int64_t numbers, const float* const* rows, Place place) {
    constexpr int square = square_of(0.0f);
    const auto to = [&](std::int64_t k) {
      return rows_of_channels_[static_cast<std::size_t>(place(k))].data();
    };
    std::int64_t k = 0;
    for (; k + square <= numbers; k += square)
      for (int lane = 0; lane < lanes; lane += square)
        transpose_square(
            0.0f, [=](int i) { return rows[lane + i] + k; }, [=](int i) { return to(k + i) + lane; });
    for (; k < numbers; ++k)
      for (int lane = 0; lane < lanes; ++lane) to(k)[lane] = rows[lane][k];
  }

  const Signals& signals_;
  double most_;
  const Bank& bank_;
  std::int64_t windows_, count_ = 0, rows_ = 0;
  std::vector<Part> parts_[lanes];
  std::vector<Lanes> rows_of_channels_, widths_, paces_, overlaps_;
  Lanes whole_{};
  std::vector<float> own_;
};

}  // namespace denots::DENOTS_TARGET
