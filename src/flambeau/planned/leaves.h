// The tensors in what a method takes and gives, however it is nested in lists, tuples and dicts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "flambeau/script/values/ivalue.h"

namespace flambeau::planned {

using script::IValue;

struct Leaves {
  std::vector<IValue> tensors;  // in order, each box once
  // What decides whether two calls may share a plan: types, sizes and strides of tensors, the nesting, and
  // the values of all else.
  std::string key;
  // Otherwise there is something in it that no plan can have: an object, a future, a sparse tensor.
  bool is_plain = true;
};

void add_leaves(const IValue& value, Leaves& leaves);

// The same nesting with other tensors; containers are new ones. What is in it twice is twice the same.
IValue with_tensors(const IValue& value, const std::function<IValue(const IValue& tensor)>& other);

}  // namespace flambeau::planned
