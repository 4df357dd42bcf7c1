// Every layer of torch.nn that there is here.
#pragma once

#include "flambeau/nn/layers/activation.h"
#include "flambeau/nn/layers/containers.h"
#include "flambeau/nn/layers/convolution.h"
#include "flambeau/nn/layers/linear.h"
#include "flambeau/nn/layers/norm.h"
