// Every field that has a kernel. Callers know them by name; their order means nothing.
#pragma once

#include "cde-inl.h"
#include "gru-inl.h"
#include "mlp-inl.h"

namespace denots::DENOTS_TARGET {

template <class... FieldKernels>
struct FieldList {};

template <class Real>
using Fields = FieldList<                                                             //
    Gru<Real, Feedback::none>, Gru<Real, Feedback::sync>, Gru<Real, Feedback::anti>,  //
    Mlp<Real, Activation::tanh>, Mlp<Real, Activation::relu>,                         //
    Cde<Real>>;

}  // namespace denots::DENOTS_TARGET
