// The slope of a controlled equation and its pullback.
#include "cde-inl.h"
#include "field_case.h"

namespace denots::DENOTS_TARGET {

template <class Real>
void test_all() {
  test_field<Cde<Real>, Field::cde>();
}

}  // namespace denots::DENOTS_TARGET

int main() {
  denots::DENOTS_TARGET::test_all<float>();
  denots::DENOTS_TARGET::test_all<double>();
  return denots::check::verdict("cde_test");
}
