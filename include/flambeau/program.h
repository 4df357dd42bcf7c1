// Exported programs: open, look into, verify, canonicalize, compare, print and save .pt2 files.
#pragma once

#include "flambeau/formats/pt2/example_inputs.h"
#include "flambeau/formats/pt2/objects.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/pt2/program_json.h"
#include "flambeau/formats/pt2/schema_versions.h"
#include "flambeau/graph/program.h"
#include "flambeau/graph/report/canonical.h"
#include "flambeau/graph/report/compare.h"
#include "flambeau/graph/report/dot.h"
#include "flambeau/graph/report/summary.h"
#include "flambeau/graph/text/parse.h"
#include "flambeau/graph/text/print.h"
#include "flambeau/graph/verify/verify.h"
