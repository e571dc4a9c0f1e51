// The GRU slopes and their pullbacks.
#include "field_case.h"
#include "gru-inl.h"

namespace denots::DENOTS_TARGET {

template <class Real>
void test_all() {
  test_field<Gru<Real, Field::gru_none>, Field::gru_none>();
  test_field<Gru<Real, Field::gru_sync>, Field::gru_sync>();
  test_field<Gru<Real, Field::gru_anti>, Field::gru_anti>();
}

}  // namespace denots::DENOTS_TARGET

int main() {
  denots::DENOTS_TARGET::test_all<float>();
  denots::DENOTS_TARGET::test_all<double>();
  return denots::check::verdict("gru_test");
}
