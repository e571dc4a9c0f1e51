// The two-layer slopes and their pullbacks.
#include "field_case.h"
#include "mlp-inl.h"

namespace denots::DENOTS_TARGET {

template <class Real>
void test_all() {
  test_field<Mlp<Real, Field::mlp_tanh>, Field::mlp_tanh>();
  test_field<Mlp<Real, Field::mlp_relu>, Field::mlp_relu>();
}

}  // namespace denots::DENOTS_TARGET

int main() {
  denots::DENOTS_TARGET::test_all<float>();
  denots::DENOTS_TARGET::test_all<double>();
  return denots::check::verdict("mlp_test");
}
