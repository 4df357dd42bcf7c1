// JSON values, as the reports of the library are written.
#pragma once

#include "flambeau/archive/json.h"
#include "flambeau/base/utf8.h"
