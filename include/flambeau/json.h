// JSON values, as the reports of the library are written.
#pragma once

#include "flambeau/archive/json/json.h"
#include "flambeau/base/utf8.h"
