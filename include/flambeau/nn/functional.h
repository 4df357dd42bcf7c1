// Functions of tensors, named as in torch and torch.nn.functional. Each calls the operators that torch.export
// shows for it. They call what nn::current() has; x is any tensor, traced or not.
#pragma once

#include "flambeau/nn/functional/activation.h"
#include "flambeau/nn/functional/attention.h"
#include "flambeau/nn/functional/conditions.h"
#include "flambeau/nn/functional/control_flow.h"
#include "flambeau/nn/functional/convolution.h"
#include "flambeau/nn/functional/create.h"
#include "flambeau/nn/functional/elementwise.h"
#include "flambeau/nn/functional/embedding.h"
#include "flambeau/nn/functional/indexing.h"
#include "flambeau/nn/functional/loss.h"
#include "flambeau/nn/functional/matrix.h"
#include "flambeau/nn/functional/norm.h"
#include "flambeau/nn/functional/operators.h"
#include "flambeau/nn/functional/padding.h"
#include "flambeau/nn/functional/pooling.h"
#include "flambeau/nn/functional/recurrent.h"
#include "flambeau/nn/functional/reduction.h"
#include "flambeau/nn/functional/shape.h"
#include "flambeau/nn/functional/upsampling.h"
