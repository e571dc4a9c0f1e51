// Which instruction set the kernels run on.
#pragma once

namespace denots {

enum class Target : int { baseline = 0, avx2 = 1, avx512 = 2 };

const char* target_name(Target target);

// Whether the target was compiled in and this CPU can run it.
bool supported(Target target);

// The widest supported target, or the one that the environment variable DENOTS_TARGET names;
// throws std::invalid_argument when that one is unknown or not supported here.
Target choose_target();

}  // namespace denots
