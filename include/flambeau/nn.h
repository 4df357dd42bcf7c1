// Write models in C++ as they are written with torch.nn: a session, modules, layers, functions of tensors.
#pragma once

#include "flambeau/nn/functional.h"
#include "flambeau/nn/init.h"
#include "flambeau/nn/layer.h"
#include "flambeau/nn/layers.h"
#include "flambeau/nn/module.h"
#include "flambeau/nn/session.h"
#include "flambeau/nn/tree.h"
