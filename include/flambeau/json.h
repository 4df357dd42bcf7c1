// JSON values, as the reports of the library are written (flambeau/report.h).
//
//   json::Value value = json::parse("{\"rows\": [1, 2]}");
//   value.set("name", "fc");
//   std::puts(json::dump(value, 2).c_str());
#pragma once

#include "flambeau/archive/json/json.h"
#include "flambeau/base/utf8.h"
