#define DENOTS_TARGET baseline
#include "oscillators-inl.h"
#include "table-inl.h"
