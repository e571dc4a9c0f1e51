// Does a CPU target compute what the plain one computes? Asked of every target before its first use.
#pragma once

#include <string>

#include "denots/cpu.h"

namespace denots {

// Solves small fixed problems, every field in both precisions, forward and back, on `target` and on the plain
// one. Says where they differ by more than `allowed` times what rounding explains; empty where they do not.
std::string disagreement(Target target, double allowed = 1.0);

// What is wrong with a target, found out once in a process; empty where nothing is. The plain target is
// right.
const std::string& fault_of(Target target);

// Sets what `fault_of` says from now on, for tests of what follows from it.
void set_fault(Target target, const std::string& fault);

}  // namespace denots
