// Which modules are being called while a model is traced, outermost first, and what nodes record of it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "flambeau/nn/module.h"
#include "flambeau/nn/session.h"

namespace flambeau::trace {

class ModuleStack : public nn::Observer {
 public:
  explicit ModuleStack(const nn::Module& root);

  void enter(const nn::Module& module, const std::function<nn::Tree()>& arguments) override;
  void leave(const nn::Module& module, const std::function<nn::Tree()>& result) override;

  void read_size(const Tensor& tensor, std::optional<size_t> dim) override {
    if (on_read_size) on_read_size(tensor, dim);
  }
  void check(const symbolic::Expr& condition, const std::string& message) override {
    if (on_check) on_check(condition, message);
  }
  void set_line(const std::string& line) override {
    line_ = line;
    has_own_lines_ = true;
  }
  bool has_own_lines() const { return has_own_lines_; }
  std::optional<int64_t> specialize(const symbolic::SymInt& number) override {
    return on_specialize ? on_specialize(number) : std::nullopt;
  }
  nn::ControlFlow* control_flow() override { return flow; }
  std::function<void(const Tensor&, std::optional<size_t>)> on_read_size;
  std::function<void(const symbolic::Expr&, const std::string&)> on_check;
  std::function<std::optional<int64_t>(const symbolic::SymInt&)> on_specialize;
  nn::ControlFlow* flow = nullptr;
  // A module is called, or has been: its full name, "fc@1" the second time, and ((arguments), {}) or the
  // result.
  std::function<void(const std::string& name, const std::function<nn::Tree()>& arguments)> on_enter;
  std::function<void(const std::string& name, const std::function<nn::Tree()>& result)> on_leave;

  // As programs hold it: "L__self__,,Net;L__self__fc@1,fc,torch.nn.modules.linear.Linear".
  std::string text() const;
  // The line of the model that runs now: "File \"net.cpp\", line 12, in Tensor Net::forward(Tensor)".
  std::string line() const;

 private:
  std::unordered_map<const nn::Module*, std::string> names_;
  std::unordered_map<const nn::Module*, size_t> calls_;
  std::string line_;  // of a model that is no C++
  bool has_own_lines_ = false;
  std::vector<std::pair<std::string, std::string>> open_;  // names, and as text() has them
};

// "File \"net.cpp\", line 12, in Tensor Net::forward(Tensor)".
std::string location_text(const std::source_location& where);

}  // namespace flambeau::trace
