// A small program in the form of each old major, for tests: y = x + w, where x has s0 rows.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace flambeau::pt2 {

struct Form {
  bool all_members = false;  // unions with nulls
  bool tagged = false;       // unions with $type
};

inline std::string member(const Form& form, const std::string& name, const std::string& value,
                          const std::string& others) {
  if (form.tagged) return R"({"$type": ")" + name + R"(", "$value": )" + value + "}";
  if (!form.all_members) return R"({")" + name + R"(": )" + value + "}";
  return R"({")" + others + R"(": null, ")" + name + R"(": )" + value + "}";
}

inline std::string tensor(const Form& form, const std::string& name) {
  return member(form, "as_tensor", R"({"name": ")" + name + R"("})", "as_none");
}

inline std::string size(const Form& form, int number) {
  return member(form, "as_int", std::to_string(number), "as_expr");
}

inline std::string meta(const Form& form, const std::string& rows, const std::string& offset) {
  return R"({"dtype": 7, "sizes": [)" + rows + ", " + size(form, 3) +
         R"(], "requires_grad": false, "device": {"type": "cpu", "index": null}, "strides": [)" +
         size(form, 3) + ", " + size(form, 1) + R"(], "storage_offset": )" + offset + R"(, "layout": 7})";
}

inline std::string replace(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

inline std::string program_1();

// Majors 2 and later are written out, 1 is made from 2.
inline std::string program(int major) {
  if (major == 1) return program_1();
  Form form;
  form.all_members = major <= 2;
  form.tagged = major == 3 || major == 4;
  const std::string hint = major == 2 ? R"({"as_int": 4, "as_float": null, "as_bool": null})"
                                      : member(form, "as_int", "4", "as_float");
  const std::string rows = member(form, "as_expr", R"({"expr_str": "s0", "hint": )" + hint + "}", "as_int");
  const std::string offset = major <= 4 ? "0" : size(form, 0);
  std::string text =
      R"({"graph_module": {"graph": {"inputs": [)" + tensor(form, "w") + ", " + tensor(form, "x") +
      R"(], "outputs": [)" + tensor(form, "y") +
      R"(], "nodes": [{"target": "torch.ops.aten.add.Tensor", "inputs": [{"name": "self", "arg": )" +
      tensor(form, "x") + R"(}, {"name": "other", "arg": )" + tensor(form, "w") + R"(}], "outputs": [)" +
      tensor(form, "y") + R"(], "metadata": {}}], "tensor_values": {"w": )" +
      meta(form, size(form, 1), offset) + R"(, "x": )" + meta(form, rows, offset) + R"(, "y": )" +
      meta(form, rows, offset) +
      R"(}, "sym_int_values": {}, "sym_bool_values": {}, "is_single_tensor_return": false)" +
      (major >= 3 ? R"(, "custom_obj_values": {})" : "") + R"(}, "signature": {"input_specs": [)" +
      member(form, "buffer",
             R"({"arg": {"name": "w"}, "buffer_name": "weight")" +
                 std::string(major >= 4 ? R"(, "persistent": true)" : "") + "}",
             "parameter") +
      ", " + member(form, "user_input", R"({"arg": )" + tensor(form, "x") + "}", "parameter") +
      R"(], "output_specs": [)" +
      member(form, "user_output", R"({"arg": )" + tensor(form, "y") + "}", "loss_output") +
      R"(]}, "module_call_graph": []}, "opset_version": {"aten": 10}, "range_constraints": )" +
      R"({"s0": {"min_val": 2, "max_val": Infinity}}, "schema_version": )" +
      (major == 2 ? std::string("2") : R"({"major": )" + std::to_string(major) + R"(, "minor": 1})");
  if (major >= 6) text += R"(, "verifiers": ["ATEN"])";
  if (major <= 5) text += R"(, "dialect": "ATEN")";
  if (major == 6) text += R"(, "dialect": "")";
  return text + "}";
}

// As PyTorch 2.1 wrote it.
inline std::string program_1() {
  std::string text = program(2);
  text = replace(text, R"("schema_version": 2, "dialect": "ATEN")",
                 R"("schema_version": 1, "example_inputs": null)");
  text = replace(text, R"("range_constraints")",
                 R"("equality_constraints": [[["x", 0], ["y", 0]]], "range_constraints")");
  for (const char* name : {"w", "x", "y"}) {
    const std::string key = std::string("\"") + name + R"(": {"dtype")";
    const size_t at = text.find(key);
    const size_t end = text.find(R"("layout": 7})", at) + 12;
    text.insert(end, "}");
    text.insert(at + std::string(name).size() + 4, R"({"meta": )");
  }
  const std::string hint = R"({"as_int": 4, "as_float": null, "as_bool": null})";
  text = replace(replace(text, hint, "4"), hint, "4");
  const size_t begin = text.find(R"("signature": {)");
  const size_t end = text.find(R"("module_call_graph")");
  text.replace(
      begin, end - begin,
      R"("signature": {"inputs_to_parameters": {}, "inputs_to_buffers": {"w": "weight"}, "user_inputs": ["x"], )"
      R"("user_outputs": ["y"], "buffers_to_mutate": {}, "backward_signature": null}, "call_spec": {)"
      R"("in_spec": "[1, {\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": )"
      R"([{\"type\": null, \"context\": null, \"children_spec\": []}]}]", "out_spec": "[1, {}]"}, )");
  return text;
}

}  // namespace flambeau::pt2
