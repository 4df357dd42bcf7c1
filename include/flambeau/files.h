// Mapped files, atomic saving, threads and progress.
#pragma once

#include "flambeau/base/files/atomic_file.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/base/parallel.h"
#include "flambeau/base/progress.h"
#include "flambeau/base/sha256.h"
