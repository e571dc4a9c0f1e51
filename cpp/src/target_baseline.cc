#define DENOTS_TARGET baseline
#include "table-inl.h"
