#include "flambeau/script/values/ivalue.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

std::string_view tag_name(IValue::Tag tag) {
  switch (tag) {
    case IValue::Tag::kNone:
      return "None";
    case IValue::Tag::kUninitialized:
      return "an uninitialized value";
    case IValue::Tag::kBool:
      return "bool";
    case IValue::Tag::kInt:
      return "int";
    case IValue::Tag::kFloat:
      return "float";
    case IValue::Tag::kDevice:
      return "Device";
    case IValue::Tag::kTensor:
      return "Tensor";
    case IValue::Tag::kString:
      return "str";
    case IValue::Tag::kComplex:
      return "complex";
    case IValue::Tag::kTuple:
      return "Tuple";
    case IValue::Tag::kList:
      return "List";
    case IValue::Tag::kDict:
      return "Dict";
    case IValue::Tag::kObject:
      return "an object";
    case IValue::Tag::kEnum:
      return "an enumerator";
    case IValue::Tag::kFuture:
      return "Future";
    case IValue::Tag::kNative:
      return "a native object";
    case IValue::Tag::kSymbolic:
      return "a number that is not known yet";
  }
  return "nothing known";
}

}  // namespace

IValue::IValue(Tensor tensor) : IValue(new TensorBox(std::move(tensor))) {}
IValue::IValue(std::string text) : IValue(new StringBox(std::move(text))) {}
IValue::IValue(std::complex<double> value) : IValue(new ComplexBox(value)) {}

IValue IValue::uninitialized() {
  IValue value;
  value.tag_ = Tag::kUninitialized;
  return value;
}

IValue IValue::tuple(std::vector<IValue> items) { return IValue(new TupleBox(std::move(items))); }

IValue IValue::named_tuple(std::vector<IValue> items, std::shared_ptr<const Class> type) {
  auto* const box = new TupleBox(std::move(items));
  box->named = std::move(type);
  return IValue(box);
}

IValue IValue::list(const Type& element, std::vector<IValue> items) {
  return IValue(new ListBox(element, std::move(items)));
}

IValue IValue::dict(const Type& key, const Type& value) { return IValue(new DictBox(key, value)); }

IValue IValue::object(std::shared_ptr<const Class> type) { return IValue(new ObjectBox(std::move(type))); }

IValue IValue::enumerator(std::shared_ptr<const Class> type, std::string name, IValue value) {
  return IValue(new EnumBox(std::move(type), std::move(name), std::move(value)));
}

IValue IValue::native(Object object) { return IValue(new NativeBox(std::move(object))); }

IValue IValue::future(const Type& element, std::function<IValue()> make) {
  return IValue(new FutureBox(element, std::move(make), false));
}

IValue IValue::awaitable(const Type& element, std::function<IValue()> make) {
  return IValue(new FutureBox(element, std::move(make), true));
}

std::complex<double> IValue::as_complex() const {
  return static_cast<const ComplexBox&>(*need(Tag::kComplex).data_.box).value;
}

const std::string& IValue::as_string() const {
  return static_cast<const StringBox&>(*need(Tag::kString).data_.box).text;
}

IValue IValue::symbolic(const Value& value) { return IValue(new SymbolicBox(value)); }
const Value& IValue::as_symbolic() const {
  return static_cast<SymbolicBox&>(*need(Tag::kSymbolic).data_.box).value;
}

const Tensor& IValue::as_tensor() const { return tensor_box().tensor; }

std::vector<IValue>& IValue::items() const { return is(Tag::kTuple) ? as_tuple().items : as_list().items; }

uint32_t IValue::owners() const { return is_boxed() ? data_.box->owners.load(std::memory_order_relaxed) : 1; }

std::string IValue::kind_name() const {
  switch (tag_) {
    case Tag::kTuple:
      if (as_tuple().named) return as_tuple().named->qualified_name();
      break;
    case Tag::kList:
      return fmt::format("List[{}]", annotation_text(as_list().element));
    case Tag::kDict:
      return fmt::format("Dict[{}, {}]", annotation_text(as_dict().key), annotation_text(as_dict().value));
    case Tag::kObject:
      return as_object().type->qualified_name();
    case Tag::kEnum:
      return as_enum().type->qualified_name();
    case Tag::kFuture:
      return fmt::format("{}[{}]", as_future().is_await ? "Await" : "Future",
                         annotation_text(as_future().element));
    case Tag::kNative:
      return as_native().object.class_name;
    default:
      break;
  }
  return std::string(tag_name(tag_));
}

void IValue::fail(Tag wanted) const {
  if (tag_ == Tag::kSymbolic) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("the script needs {} here, which depends on the data of its inputs", tag_name(wanted)),
        "compute with tensors instead: torch.where chooses without a branch");
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("expected {}, found {}", tag_name(wanted), printable(kind_name())));
}

void IValue::free_box(Box* box) noexcept {
  // What a freed box owned is freed behind it, not inside of it: a chain may be longer than the stack.
  thread_local Box* waiting = nullptr;
  thread_local bool is_freeing = false;
  box->next_freed = waiting;
  waiting = box;
  if (is_freeing) return;
  is_freeing = true;
  while (waiting != nullptr) {
    Box* const next = waiting;
    waiting = next->next_freed;
    switch (next->tag) {
      case Tag::kTensor:
        delete static_cast<TensorBox*>(next);
        break;
      case Tag::kString:
        delete static_cast<StringBox*>(next);
        break;
      case Tag::kComplex:
        delete static_cast<ComplexBox*>(next);
        break;
      case Tag::kTuple:
        delete static_cast<TupleBox*>(next);
        break;
      case Tag::kList:
        delete static_cast<ListBox*>(next);
        break;
      case Tag::kDict:
        delete static_cast<DictBox*>(next);
        break;
      case Tag::kObject:
        delete static_cast<ObjectBox*>(next);
        break;
      case Tag::kEnum:
        delete static_cast<EnumBox*>(next);
        break;
      case Tag::kFuture:
        delete static_cast<FutureBox*>(next);
        break;
      case Tag::kNative:
        delete static_cast<NativeBox*>(next);
        break;
      case Tag::kSymbolic:
        delete static_cast<SymbolicBox*>(next);
        break;
      default:
        break;  // not on the heap
    }
  }
  is_freeing = false;
}

}  // namespace flambeau::script
