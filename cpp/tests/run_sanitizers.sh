#!/bin/sh
# Build the C++ tests without Python and run them under AddressSanitizer, UndefinedBehaviorSanitizer,
# valgrind and ThreadSanitizer. Set ALLOW_NO_VALGRIND=1 to go on where valgrind is missing.
set -eu
cd "$(dirname "$0")/../.."
CXX=${CXX:-g++}
JOBS=${JOBS:-2}
OUT=build/sanitize
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

# build NAME FLAGS PROGRAM..: the library without bindings, and programs linked with it.
build() {
  dir=$OUT/$1 flags="$COMMON $2"
  shift 2
  rm -rf "$dir"
  mkdir -p "$dir/library"
  {
    for target in $TARGETS; do
      echo "$CXX $flags $(flags_of $target) -c cpp/src/target_$target.cc -o $dir/library/target_$target.o"
    done
    for unit in cpu dispatch spline tape; do
      echo "$CXX $flags -c cpp/src/$unit.cc -o $dir/library/$unit.o"
    done
    for program in "$@"; do echo "$CXX $flags -c cpp/tests/$program.cc -o $dir/$program.o"; done
  } | compile
  for program in "$@"; do
    echo "$CXX $flags $dir/$program.o $dir/library/*.o -o $dir/$program"
  done | compile
}

# build_kernels NAME FLAGS TARGET PROGRAM..: tests of kernel headers, each for one target alone.
build_kernels() {
  dir=$OUT/$1 flags="$COMMON $2 $(flags_of "$3") -DDENOTS_TARGET=$3" target=$3
  shift 3
  for program in "$@"; do echo "$CXX $flags cpp/tests/$program.cc -o $dir/${program}_$target"; done | compile
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

export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1
unset DENOTS_TARGET

checked="-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
build address "$checked" solve_test spline_test tape_test fuzz_driver
for program in solve_test spline_test tape_test; do run "address, undefined: $program" "$OUT/address/$program"; done
run "address, undefined: fuzz_driver" "$OUT/address/fuzz_driver" "${SEEDS:-60}"
kernel_tests="vec_test gemm_test gru_test mlp_test cde_test path_test rk_test"
for target in $TARGETS; do
  if runs_here $target; then
    build_kernels address "$checked" $target $kernel_tests
    for program in $kernel_tests; do run "address, undefined: $program, $target" "$OUT/address/${program}_$target"; done
  else
    echo "skipped $target: this CPU cannot run it"
  fi
done

build thread "-O1 -fsanitize=thread" fuzz_driver
run "thread: fuzz_driver, 3 threads" "$OUT/thread/fuzz_driver" "${THREAD_SEEDS:-15}" 3

if command -v valgrind >/dev/null; then
  build plain "-O2" fuzz_driver tape_test
  for program in tape_test "fuzz_driver ${VALGRIND_SEEDS:-6}"; do
    run "valgrind: $program" valgrind --quiet --error-exitcode=1 "$OUT/plain/"$program
  done
elif [ "${ALLOW_NO_VALGRIND:-0}" = 1 ]; then
  echo "skipped valgrind: not installed, and ALLOW_NO_VALGRIND=1"
else
  failed=$((failed + 1))
  echo "FAILED  valgrind is not installed; install it, or set ALLOW_NO_VALGRIND=1 to go without"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
