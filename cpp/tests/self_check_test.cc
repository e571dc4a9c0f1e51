// The self-check passes the targets of this CPU, can fail them, and what fails is not used.
#include "denots/self_check.h"

#include <cstdlib>
#include <stdexcept>

#include "check.h"

namespace denots::check {
namespace {

void test_targets_agree() {
  for (const Target target : widest_first) {
    if (!supported(target)) continue;
    expect(disagreement(target).empty(), "%s agrees with the plain target: %s", target_name(target),
           disagreement(target).c_str());
    const std::string strict = disagreement(target, 0.0);
    if (target == Target::baseline)
      expect(strict.empty(), "the plain target agrees with itself to the last bit");
    else
      expect(strict.find(" away from those of the plain target") != std::string::npos,
             "%s rounds in its own way, which a check that allows nothing reports", target_name(target));
  }
}

void test_a_faulty_target_is_passed_over() {
  unsetenv("DENOTS_TARGET");
  const Choice before = choose_target();
  expect(before.passed_over.empty(), "nothing is passed over: %s", before.passed_over.c_str());
  if (before.target == Target::baseline) return;
  set_fault(before.target, "it cannot add");
  const Choice after = choose_target();
  expect(after.target < before.target, "a target that failed is not chosen");
  expect(after.passed_over.find("failed its self-check: it cannot add") != std::string::npos,
         "and why is said");
  setenv("DENOTS_TARGET", target_name(before.target), 1);
  std::string refusal;
  try {
    choose_target();
  } catch (const std::invalid_argument& error) {
    refusal = error.what();
  }
  expect(refusal.find("it cannot add") != std::string::npos, "nor can it be forced");
  unsetenv("DENOTS_TARGET");
}

}  // namespace
}  // namespace denots::check

int main() {
  denots::check::test_targets_agree();
  denots::check::test_a_faulty_target_is_passed_over();
  return denots::check::verdict("self_check_test");
}
