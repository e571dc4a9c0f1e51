#define DENOTS_TARGET baseline
#include "convolutions-inl.h"
#include "gaussian_curves-inl.h"
#include "layers-inl.h"
#include "oscillators-inl.h"
#include "table-inl.h"
