#pragma once
#include "coyote/cThread.hpp"
