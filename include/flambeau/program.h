// Exported programs: open, look into, verify, canonicalize, compare and save .pt2 files.
#pragma once

#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/pt2/program_json.h"
#include "flambeau/formats/pt2/schema_versions.h"
#include "flambeau/graph/canonical.h"
#include "flambeau/graph/program.h"
#include "flambeau/graph/summary.h"
