#!/bin/sh
# run.sh plain:    build the C++ tests without Python and run them.
# run.sh sanitize: run them under AddressSanitizer, UndefinedBehaviorSanitizer, valgrind and ThreadSanitizer.
#                  Set ALLOW_NO_VALGRIND=1 to go on where valgrind is missing.
set -eu
cd "$(dirname "$0")/../.."
MODE=${1:?usage: run.sh plain|sanitize}
CXX=${CXX:-g++}
JOBS=${JOBS:-2}
OUT=build/native-tests
COMMON="-std=c++17 -g -Wall -Wextra -ffp-contract=off -pthread -Icpp/include -Icpp/kernels"
passed=0 failed=0
mkdir -p "$OUT"

case $(uname -m) in
  x86_64) TARGETS="baseline avx2 avx512"; COMMON="$COMMON -DDENOTS_X86_TARGETS" ;;
  *) TARGETS=baseline ;;
esac

flags_of() {
  case $1 in
    avx2) echo "-mavx2 -mfma" ;;
    avx512) echo "-mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mprefer-vector-width=512" ;;
  esac
}

runs_here() {
  case $1 in
    baseline) true ;;
    avx2) grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo ;;
    avx512) for f in avx512f avx512dq avx512vl avx512bw; do grep -qw $f /proc/cpuinfo || return 1; done ;;
  esac
}

# Tests of kernel headers are compiled for one target alone; all others are linked with the library.
kernel_tests=$(cd cpp/tests && grep -l 'DENOTS_TARGET {' ./*_test.cc | sed 's/^..//; s/\.cc$//')
library_tests=$(cd cpp/tests && grep -L 'DENOTS_TARGET {' ./*_test.cc | sed 's/^..//; s/\.cc$//')

# fresh DIR: whether everything in it was built after the last change.
fresh() { [ -e "$1/built" ] && [ -z "$(find cpp -newer "$1/built" -type f -print -quit)" ]; }

# build NAME FLAGS PROGRAM..: the library without bindings, and programs linked with it.
build() {
  dir=$OUT/$1 flags="$COMMON $2"
  shift 2
  if fresh "$dir"; then return; fi
  rm -rf "$dir"
  mkdir -p "$dir/library"
  {
    for target in $TARGETS; do
      echo "$CXX $flags $(flags_of $target) -c cpp/src/target_$target.cc -o $dir/library/target_$target.o"
    done
    for unit in boosted_trees rows cpu dispatch drive driven_path gaussian_curves layers normal_scores pooling self_check spline summary tape thread_pool; do
      echo "$CXX $flags -c cpp/src/$unit.cc -o $dir/library/$unit.o"
    done
    for program in "$@"; do echo "$CXX $flags -c cpp/tests/$program.cc -o $dir/$program.o"; done
  } | compile
  for program in "$@"; do
    echo "$CXX $flags $dir/$program.o $dir/library/*.o -o $dir/$program"
  done | compile
  touch "$dir/built"
}

# kernel_tests_for NAME FLAGS TARGET: build and run them.
kernel_tests_for() {
  dir=$OUT/$1 name=$1 flags="$COMMON $2 -DDENOTS_TARGET=$3"
  if ! fresh "$dir"; then
    rm -rf "$dir"
    mkdir -p "$dir"
    for program in $kernel_tests; do echo "$CXX $flags cpp/tests/$program.cc -o $dir/$program"; done | compile
    touch "$dir/built"
  fi
  for program in $kernel_tests; do run "$name: $program" "$dir/$program"; done
}

compile() { xargs -P "$JOBS" -I{} sh -c '{}'; }

# run LABEL COMMAND..
run() {
  label=$1
  shift
  if "$@" >"$OUT/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $label: $(grep -h 'checks,' "$OUT/log" | tail -n 1)"
  else
    failed=$((failed + 1))
    echo "FAILED  $label"
    tail -n 60 "$OUT/log"
  fi
}

# all_tests NAME FLAGS SEEDS: every test once, on every target that this CPU can run.
all_tests() {
  build "$1" "$2" $library_tests fuzz_driver
  for program in $library_tests; do run "$1: $program" "$OUT/$1/$program"; done
  run "$1: fuzz_driver" "$OUT/$1/fuzz_driver" "$3"
  for target in $TARGETS; do
    if runs_here $target; then
      kernel_tests_for "$1-$target" "$2 $(flags_of $target)" $target
    else
      echo "skipped $target: this CPU cannot run it"
    fi
  done
  # The lanes of a wider CPU than this one, with the instructions of the widest that is likely.
  case " $TARGETS " in *" avx512 "*)
    if runs_here avx2 && ! runs_here avx512; then
      kernel_tests_for "$1-16-lanes" "$2 $(flags_of avx2) -DDENOTS_VECTOR_BYTES=64 -Wno-psabi" avx512
    fi ;;
  esac
}

export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1
unset DENOTS_TARGET

sanitize() {
  all_tests address "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all" "${SEEDS:-60}"
  build thread "-O1 -fsanitize=thread" thread_pool_test oscillators_test fuzz_driver
  run "thread: thread_pool_test" "$OUT/thread/thread_pool_test"
  run "thread: oscillators_test" "$OUT/thread/oscillators_test"
  run "thread: fuzz_driver, 3 threads" "$OUT/thread/fuzz_driver" "${THREAD_SEEDS:-15}" 3
  if command -v valgrind >/dev/null; then
    build valgrind "-O2" fuzz_driver tape_test
    for program in tape_test "fuzz_driver ${VALGRIND_SEEDS:-6}"; do
      run "valgrind: $program" valgrind --quiet --error-exitcode=1 "$OUT/valgrind/"$program
    done
  elif [ "${ALLOW_NO_VALGRIND:-0}" = 1 ]; then
    echo "skipped valgrind: not installed, and ALLOW_NO_VALGRIND=1"
  else
    failed=$((failed + 1))
    echo "FAILED  valgrind is not installed; install it, or set ALLOW_NO_VALGRIND=1 to go without"
  fi
}

case $MODE in
  plain) all_tests plain -O1 "${SEEDS:-20}" ;;
  sanitize) sanitize ;;
  *) echo "usage: run.sh plain|sanitize" >&2; exit 2 ;;
esac
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
