#define DENOTS_TARGET avx512
#include "oscillators-inl.h"
#include "table-inl.h"
