// Look into any file of PyTorch; list, extract and digest its records.
//
//   const Inspection found = inspect_file("model.pt2");
//   for (const RecordInfo& record : found.records) std::puts(record.name.c_str());
#pragma once

#include "flambeau/formats/digest.h"
#include "flambeau/formats/inspect.h"
