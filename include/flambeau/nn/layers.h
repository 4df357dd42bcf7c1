// Every layer of torch.nn that there is here.
#pragma once

#include "flambeau/nn/layers/activation.h"
#include "flambeau/nn/layers/attention.h"
#include "flambeau/nn/layers/containers.h"
#include "flambeau/nn/layers/convolution.h"
#include "flambeau/nn/layers/dropout.h"
#include "flambeau/nn/layers/embedding.h"
#include "flambeau/nn/layers/linear.h"
#include "flambeau/nn/layers/loss.h"
#include "flambeau/nn/layers/norm.h"
#include "flambeau/nn/layers/padding.h"
#include "flambeau/nn/layers/pooling.h"
#include "flambeau/nn/layers/recurrent.h"
#include "flambeau/nn/layers/shape.h"
#include "flambeau/nn/layers/transformer.h"
#include "flambeau/nn/layers/upsampling.h"
