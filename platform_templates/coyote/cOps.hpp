#pragma once
#include "coyote/cOps.hpp"
