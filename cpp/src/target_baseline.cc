#define DENOTS_TARGET baseline
#include "convolutions-inl.h"
#include "layers-inl.h"
#include "oscillators-inl.h"
#include "table-inl.h"
