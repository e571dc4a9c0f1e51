#define DENOTS_TARGET avx2
#include "oscillators-inl.h"
#include "table-inl.h"
