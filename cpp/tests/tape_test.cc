// Chunks of a tape are linked, aligned, apart from each other, and counted.
#include "denots/tape.h"

#include <vector>

#include "check.h"

namespace denots::check {
namespace {

// Series 1 has steps at 0, 1, 2, ... whose states are the number of their chunk; the others have none.
void test_steps(const Tape& tape, std::int64_t states, std::int64_t steps) {
  expect(tape.steps(0) == 0 && tape.steps(1) == steps, "steps are counted");
  std::vector<double> times(static_cast<std::size_t>(steps)), rows(static_cast<std::size_t>(steps * states));
  tape.read(1, states, times.data(), rows.data());
  for (std::int64_t step = 0; step < steps; ++step) {
    expect(times[static_cast<std::size_t>(step)] == static_cast<double>(step), "steps keep their order");
    for (const std::int64_t row : {std::int64_t{0}, states - 1})
      expect(rows[static_cast<std::size_t>(step * states + row)] ==
                 static_cast<double>(step / TapeChunk::capacity),
             "states stay with their steps");
  }
}

// `kept` numbers of stages a step, with room for `rich` chunks of them.
void test_chunks(std::int64_t states, int count, std::int64_t kept, int rich) {
  const auto bytes = [](std::int64_t numbers) {
    return static_cast<std::size_t>(numbers * TapeChunk::capacity) * sizeof(double);
  };
  Tape tape(3, static_cast<std::size_t>(states) * sizeof(double), bytes(kept) * rich + (kept > 0 ? 1 : 0));
  const TapeWriter writer = tape.writer(Target::avx2, kept, sizeof(double));
  expect(writer.keeps == (rich > 0), "stages are kept where there is room");
  TapeChunk* last = nullptr;
  for (int k = 0; k < count; ++k) {
    TapeChunk* const fresh = writer.extend(writer.owner, last);
    if (fresh == nullptr) return expect(false, "no memory for chunk %d", k);
    expect(fresh->previous == last && fresh->used == 0, "a fresh chunk is empty and linked");
    expect(fresh->kept == (k < rich ? kept : 0), "chunk %d of %d with stages", k, rich);
    expect(reinterpret_cast<std::uintptr_t>(fresh) % alignof(TapeChunk) == 0, "chunks are aligned");
    for (std::int64_t step = 0; step < TapeChunk::capacity; ++step) {
      for (std::int64_t row = 0; row < states; ++row) fresh->state<double>(step, states)[row] = k;
      for (std::int64_t row = 0; row < fresh->kept; ++row) fresh->stages<double>(step)[row] = -k;
      fresh->t[step] = k * TapeChunk::capacity + step;
    }
    fresh->used = k == count - 1 ? 5 : TapeChunk::capacity;
    last = fresh;
  }
  writer.last[1] = last;
  expect(tape.series() == 3 && tape.last()[0] == nullptr && tape.last()[1] == last, "one list a series");
  expect(tape.bytes() >= bytes(states) * count + bytes(kept) * rich, "all chunks are counted");
  int k = count;
  for (TapeChunk* chunk = last; chunk != nullptr; chunk = chunk->previous) {
    --k;
    for (const std::int64_t step : {0, TapeChunk::capacity - 1}) {
      expect(chunk->state<double>(step, states)[states - 1] == k, "chunks do not overlap");
      expect(chunk->kept == 0 || chunk->stages<double>(step)[chunk->kept - 1] == -k, "nor do stages");
    }
  }
  expect(k == 0, "all chunks are reached");
  test_steps(tape, states, (count - 1) * TapeChunk::capacity + 5);
}

}  // namespace
}  // namespace denots::check

int main() {
  using denots::check::test_chunks;
  for (int repeat = 0; repeat < 2; ++repeat) {  // the second time with slabs of the first
    test_chunks(1, 40, 0, 0);
    test_chunks(40, 40, 1160, 7);
    test_chunks(40, 3, 0x10000, 2);  // stages larger than a slab
    test_chunks(70, 300, 0, 0);
    test_chunks(8000, 3, 0, 0);   // one chunk a slab
    test_chunks(10000, 3, 0, 0);  // larger than a slab
  }
  return denots::check::verdict("tape_test");
}
