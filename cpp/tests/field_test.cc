// The slopes of all fields that have kernels, and their pullbacks.
#include "field_case.h"
#include "fields-inl.h"

namespace denots::DENOTS_TARGET {
namespace {

template <class FieldKernel>
void test_field() {
  for (const std::int64_t channels : {1, 3, 4, 5, 9, 17}) FieldCase<FieldKernel>(3, channels, 2).run();
  for (const std::int64_t states : {1, 8, 9}) FieldCase<FieldKernel>(states, 2, 1).run();
}

template <class... FieldKernels>
void test_all(FieldList<FieldKernels...>) {
  (test_field<FieldKernels>(), ...);
}

}  // namespace
}  // namespace denots::DENOTS_TARGET

int main() {
  namespace kernels = denots::DENOTS_TARGET;
  kernels::test_all(kernels::Fields<float>());
  kernels::test_all(kernels::Fields<double>());
  return denots::check::verdict("field_test");
}
