#define DENOTS_TARGET avx2
#include "convolutions-inl.h"
#include "gaussian_curves-inl.h"
#include "layers-inl.h"
#include "oscillators-inl.h"
#include "table-inl.h"
