#define DENOTS_TARGET avx512
#include "table-inl.h"
