// Write models in C++ as they are written with torch.nn: a session, modules, layers, functions of tensors.
//
//   class Net : public nn::Layer<Net> {
//    public:
//     Net() { add_module("fc", fc); }
//     Tensor forward(const Tensor& x) { return nn::relu(fc(x)); }
//     nn::Linear fc{10, 20};
//   };
//
//   nn::Session session;
//   Net net;
//   const Tensor y = net(nn::randn({4, 10}));
//
// flambeau/export.h makes a program of it.
#pragma once

#include "flambeau/nn/functional.h"
#include "flambeau/nn/init.h"
#include "flambeau/nn/layer.h"
#include "flambeau/nn/layers.h"
#include "flambeau/nn/module.h"
#include "flambeau/nn/session.h"
#include "flambeau/nn/tree.h"
