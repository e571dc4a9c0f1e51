# What the kernels are made of: `sources`, with the flags of each CPU target, `definitions` and `options`.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
find_package(Threads REQUIRED)

set(at ${CMAKE_CURRENT_LIST_DIR}/src)
set(sources
  ${at}/boosted_trees.cc ${at}/rows.cc
  ${at}/cpu.cc ${at}/dispatch.cc ${at}/drive.cc ${at}/driven_path.cc ${at}/gaussian_curves.cc ${at}/layers.cc ${at}/normal_scores.cc ${at}/pooling.cc ${at}/self_check.cc ${at}/spline.cc ${at}/summary.cc ${at}/tape.cc ${at}/thread_pool.cc
  ${at}/target_baseline.cc)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  list(APPEND sources ${at}/target_avx2.cc ${at}/target_avx512.cc)
  set_source_files_properties(${at}/target_avx2.cc PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
  set_source_files_properties(${at}/target_avx512.cc PROPERTIES
    COMPILE_OPTIONS "-mavx512f;-mavx512dq;-mavx512vl;-mavx512bw;-mfma;-mprefer-vector-width=512")
  set(definitions DENOTS_X86_TARGETS)
endif()
# Products are fused only where a kernel says so: the result must not depend on the compiler's mood.
set(options -Wall -Wextra -Werror -O3 -ffp-contract=off)
