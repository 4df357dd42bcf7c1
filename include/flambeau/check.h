// Judge whether a file from a stranger is safe to open.
#pragma once

#include "flambeau/formats/safety/safety.h"
