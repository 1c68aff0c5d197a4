// What every unit of a card includes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <fstream>
#include <list>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

int rcw_printf(const char* format, ...);  // VL_PRINTF

#include "verilated.h"
