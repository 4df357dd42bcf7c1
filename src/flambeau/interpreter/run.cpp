// The loop that runs instructions.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/interpreter/native_methods.h"
#include "flambeau/interpreter/operators.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/types/runtime_type.h"

namespace flambeau::interpreter {
namespace {

using Tag = IValue::Tag;

[[noreturn, gnu::cold]] void fail_unpack(size_t found, size_t expected, const char* what) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("Expected {} elements in a {} but found {}", expected, what, found));
}

// What an instruction reads and writes.
struct Window {
  IValue* tables[2];
  const Operand* operands;

  [[gnu::always_inline]] IValue& input(size_t i) const {
    return tables[operands[i].table()][operands[i].index()];
  }
  [[gnu::always_inline]] IValue take(size_t i) const {
    if (operands[i].is_last() && !operands[i].is_constant()) return std::move(input(i));
    return input(i);
  }
  std::vector<IValue> take_all(size_t count) const {
    std::vector<IValue> values;
    values.reserve(count);
    for (size_t i = 0; i < count; ++i) values.push_back(take(i));
    return values;
  }
  [[gnu::always_inline]] void give(size_t i, IValue value) const {
    if (!operands[i].is_none()) tables[0][operands[i].index()] = std::move(value);
  }
};

void unpack(const Window& window, const Instruction& instruction, const char* what) {
  const IValue whole = window.take(0);
  const std::vector<IValue>& items = whole.items();
  if (items.size() != instruction.result_count) fail_unpack(items.size(), instruction.result_count, what);
  for (size_t i = 0; i < items.size(); ++i) window.give(i + 1, items[i]);
}

IValue slice_tuple(const IValue& tuple, std::pair<int64_t, int64_t> slice) {
  const std::vector<IValue>& items = tuple.as_tuple().items;
  const auto size = static_cast<int64_t>(items.size());
  const int64_t begin = std::clamp<int64_t>(slice.first, 0, size);
  const int64_t end = std::clamp<int64_t>(slice.second, begin, size);
  return IValue::tuple({items.begin() + begin, items.begin() + end});
}

IValue make_dict(const Window& window, const Instruction& instruction, const Type& type) {
  IValue dict = IValue::dict(type.elements()[0], type.elements()[1]);
  script::DictItems& items = dict.as_dict().items;
  for (size_t i = 0; i + 1 < instruction.input_count; i += 2) items.set(window.take(i), window.take(i + 1));
  return dict;
}

// One of no script's class has no slots: its __init__ makes what it holds.
IValue make_object(const std::shared_ptr<const script::Class>& type) {
  if (!script::is_native_class(type->qualified_name()) || script::is_printed_native_class(*type)) [[likely]]
    return IValue::object(type);
  return IValue::native(Object{type->qualified_name(), nullptr});
}

}  // namespace

IValue Machine::run_frames(size_t bottom) {
  const Code* code = nullptr;
  IValue* registers = nullptr;
  Frame* frame = nullptr;
  const Instruction* instructions = nullptr;
  uint32_t next = 0;
  const auto enter_top = [&] {
    frame = &frames_.back();
    code = frame->code;
    registers = frame->registers;
    instructions = code->instructions.data();
    next = frame->next;
  };
  enter_top();
  while (true) {
    const Instruction& in = instructions[next];
    frame->next = ++next;  // errors look here for their place
    const Window window = {{registers, const_cast<IValue*>(code->constants.data())},
                           code->operands.data() + in.operands};
    const uint32_t results = in.input_count;
    switch (in.opcode) {
      case Opcode::kBuiltin: {
        const Builtin& builtin = *code->builtins[in.index];
        if (!is_granted(builtin.needs)) [[unlikely]]
          refuse(builtin.needs, builtin.name);
        Call call(*this, *code, in, code->nodes[next - 1], registers);
        builtin(call);
        frame = &frames_.back();
        break;
      }
      case Opcode::kOperator: {
        count_step();
        Call call(*this, *code, in, code->nodes[next - 1], registers);
        call_operator(*code->operators[in.index], call);
        break;
      }
      case Opcode::kMove:
        window.give(1, window.take(0));
        continue;
      case Opcode::kClear:
        for (size_t i = 0; i < in.input_count; ++i) window.input(i) = IValue();
        continue;
      case Opcode::kJump:
        next = in.index;
        continue;
      case Opcode::kJumpUnless:
        if (!window.input(0).as_bool()) next = in.index;
        continue;
      case Opcode::kLoopBegin:
        if (window.input(0).as_int() <= 0 || !window.input(1).as_bool()) {
          next = in.index;
        } else {
          window.give(2, int64_t{0});
        }
        continue;
      case Opcode::kLoopNext: {
        count_step();
        const int64_t turn = window.input(0).as_int() + 1;
        if (turn < window.input(1).as_int() && window.input(2).as_bool()) {
          window.input(0) = IValue(turn);
          next = in.index;
        }
        continue;
      }
      case Opcode::kReturn: {
        IValue value = window.take(0);
        const uint32_t result = frame->result;
        if (frame->is_fork) {
          auto* const future = new script::FutureBox(TypeKind::kAny, {});
          IValue made = IValue::adopt(future);
          future->value = std::move(value);
          value = std::move(made);
        }
        pop();
        if (frames_.size() == bottom) return value;
        enter_top();
        if (result != kNoResult) registers[result] = std::move(value);
        continue;
      }
      case Opcode::kCall:
        begin_call(program_->code_of(*code->calls[in.index]), *frame, in);
        enter_top();
        continue;
      case Opcode::kCallMethod:
        if (window.input(0).is(Tag::kNative)) [[unlikely]] {
          count_step();
          IValue value =
              call_native_method(program_->library(), program_->unit(), code->methods[in.index]->name,
                                 window.take_all(in.input_count), program_->backends());
          if (in.result_count != 0) window.give(results, std::move(value));
          break;
        }
        begin_call(program_->code_of(method_of(*code->methods[in.index], window.input(0))), *frame, in);
        enter_top();
        continue;
      case Opcode::kFork:
        begin_call(*code->subroutines[in.index], *frame, in);
        frames_.back().is_fork = true;
        enter_top();
        continue;
      case Opcode::kAwaitable: {
        Call call(*this, *code, in, code->nodes[next - 1], registers);
        window.give(results, make_awaitable(code->subroutines[in.index], call));
        break;
      }
      case Opcode::kEnter:
        entered_.push_back(window.input(0));
        begin_call(program_->code_of(method_of(*code->methods[in.index], window.input(0))), *frame, in);
        enter_top();
        continue;
      case Opcode::kExit: {
        const IValue object = window.input(0);
        if (entered_.size() > frame->entered) entered_.pop_back();
        begin_exit(program_->code_of(method_of(*code->methods[in.index], object)), object);
        enter_top();
        continue;
      }
      case Opcode::kTuple:
        window.give(results, IValue::tuple(window.take_all(in.input_count)));
        continue;
      case Opcode::kNamedTuple:
        window.give(results, IValue::named_tuple(window.take_all(in.input_count), code->classes[in.index]));
        continue;
      case Opcode::kUnpackTuple:
        unpack(window, in, "tuple");
        continue;
      case Opcode::kTupleSlice:
        window.give(results, slice_tuple(window.input(0), code->slices[in.index]));
        break;
      case Opcode::kList:
        window.give(results, IValue::list(code->types[in.index], window.take_all(in.input_count)));
        continue;
      case Opcode::kUnpackList:
        unpack(window, in, "list");
        continue;
      case Opcode::kDict:
        window.give(results, make_dict(window, in, code->types[in.index]));
        continue;
      case Opcode::kGetAttribute:
        window.give(results, slot_of(*code->attributes[in.index], window.input(0)));
        break;
      case Opcode::kSetAttribute:
        slot_of(*code->attributes[in.index], window.input(0)) = window.take(1);
        break;
      case Opcode::kCreateObject:
        window.give(results, make_object(code->classes[in.index]));
        continue;
      case Opcode::kIsInstance: {
        bool is_one = false;
        for (const Type& type : code->type_lists[in.index])
          is_one = is_one || script::is_instance(&program_->unit(), window.input(0), type);
        window.give(results, is_one);
        break;
      }
      case Opcode::kBranch:
        choose_side(*code->branches[in.index], window.input(0));
        enter_top();
        continue;
      case Opcode::kRepeatBegin:
        choose_turn(*code->repeats[in.index], int64_t{0}, window.input(0), window.input(1));
        enter_top();
        continue;
      case Opcode::kRepeatNext:
        count_step();
        choose_turn(*code->repeats[in.index], window.input(0).as_int() + 1, window.input(1), window.input(2));
        enter_top();
        continue;
      case Opcode::kBlockEnd:
        if (frame->stop == next - 1) return {};  // whoever runs the block takes the frame
        next = in.index;
        continue;
    }
    if (!in.has_last_uses) continue;
    for (size_t i = 0; i < in.input_count; ++i) {
      if (!window.operands[i].is_constant() && window.operands[i].is_last()) window.input(i) = IValue();
    }
  }
}

void Machine::begin_call(const Code& code, const Frame& frame, const Instruction& instruction) {
  count_step();
  if (instruction.input_count != code.argument_count) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} takes {} arguments, {} are given", printable(code.function),
                            code.argument_count, instruction.input_count));
  }
  const Code& caller = *frame.code;
  const Window window = {{frame.registers, const_cast<IValue*>(caller.constants.data())},
                         caller.operands.data() + instruction.operands};
  const Operand result =
      instruction.result_count == 0 ? Operand::none() : window.operands[instruction.input_count];
  push(code, result.is_none() ? kNoResult : result.index());
  IValue* const registers = frames_.back().registers;
  for (size_t i = 0; i < instruction.input_count; ++i) registers[i] = window.take(i);
}

void Machine::begin_exit(const Code& code, const IValue& object) {
  count_step();
  if (code.argument_count != 4) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} takes {} arguments, leaving a `with` gives it 4",
                                                         printable(code.function), code.argument_count));
  }
  push(code, kNoResult);
  frames_.back().registers[0] = object;
}

}  // namespace flambeau::interpreter
