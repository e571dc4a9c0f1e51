#define DENOTS_TARGET avx2
#include "table-inl.h"
