// The classes and functions that a pickle may name, and what they make of their arguments.

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <weft/dev/io/utf8.h>

#include "npy.h"
#include "pickle.h"

namespace weft {

template <class T>
T& Pickle::get(const Refs& arguments, std::size_t place) {
  T* found = place < arguments.size() ? find<T>(arguments[place]) : nullptr;
  if (found == nullptr) fail("its pickle calls something with other arguments than it takes");
  return *found;
}

void Pickle::spend(std::size_t count) {
  constexpr std::size_t times = 16;
  spent_ += count;
  if (spent_ / times > from_.size()) fail("its pickle makes far more than it has");
}

std::int64_t Pickle::integer(Ref node) {
  const auto* object = find<Object>(node);
  if (object == nullptr || !object->is<std::int64_t>())
    fail("its pickle has no integer for a size");
  return object->as<std::int64_t>();
}

std::string Pickle::text(Ref node) {
  const auto* object = find<Object>(node);
  if (object == nullptr || !object->is<std::string>()) fail("its pickle has no text for a name");
  spend(object->as<std::string>().size());
  return object->as<std::string>();
}

std::vector<std::int64_t> Pickle::integers(Ref node) {
  const auto* list = find<Sequence>(node);
  if (list == nullptr) fail("its pickle has no list for a shape");
  spend(list->items.size());
  std::vector<std::int64_t> result;
  for (const Ref item : list->items) result.push_back(integer(item));
  return result;
}

struct Globals {
  using Ref = Pickle::Ref;
  using Refs = Pickle::Refs;

  static Ref ordered_dict(Pickle& p, const Refs& arguments) {
    Pickle::Table dict;
    if (!arguments.empty())
      for (const Ref pair : p.get<Pickle::Sequence>(arguments, 0).items) {
        const Refs& items = p.get<Pickle::Sequence>({pair}, 0).items;
        if (items.size() != 2) p.fail("its pickle has a dictionary that is not made of pairs");
        p.spend(items.size());
        dict.entries.emplace_back(items[0], items[1]);
      }
    return p.add(std::move(dict));
  }

  static Ref first(Pickle& p, const Refs& arguments) {
    if (arguments.empty()) p.fail("its pickle calls something without arguments");
    return arguments[0];
  }

  static Ref torch_tensor(Pickle& p, const Refs& arguments, DType dtype) {
    if (arguments.size() < 4) p.fail("its pickle makes a tensor of too little");
    return p.add(Pickle::TorchTensor{arguments[0], dtype, p.integer(arguments[1]),
                                     p.integers(arguments[2]), p.integers(arguments[3])});
  }
  static Ref tensor(Pickle& p, const Refs& arguments) {
    return torch_tensor(p, arguments, p.get<Pickle::Storage>(arguments, 0).dtype);
  }
  static Ref tensor_of_dtype(Pickle& p, const Refs& arguments) {
    return torch_tensor(p, arguments, p.get<Pickle::Global>(arguments, 6).dtype);
  }

  static Ref device(Pickle& p, const Refs& arguments) {
    std::string name = p.text(first(p, arguments));
    if (arguments.size() > 1) name += fmt::format(":{}", p.integer(arguments[1]));
    return p.add(Object(name));
  }

  static Ref array(Pickle& p, const Refs&) { return p.add(Pickle::NumpyArray{}); }
  static Ref array_type(Pickle& p, const Refs& arguments) {
    const std::string name = p.text(first(p, arguments));
    const auto dtype = numpy_dtype(name);
    if (!dtype) p.fail(fmt::format("there is no dtype for {}", name));
    return p.add(Pickle::NumpyType{*dtype});
  }
  static Ref array_of_bytes(Pickle& p, const Refs& arguments) {
    const std::string bytes = p.text(first(p, arguments));
    const Pickle::NumpyType type = p.get<Pickle::NumpyType>(arguments, 1);
    p.get<Object>(arguments, 3);
    return p.add(Pickle::NumpyArray{type, p.text(arguments[3]) == "F", false,
                                    p.integers(arguments[2]), bytes});
  }
  static Ref number(Pickle& p, const Refs& arguments) {
    const Pickle::NumpyType type = p.get<Pickle::NumpyType>(arguments, 0);
    p.get<Object>(arguments, 1);
    return p.add(Pickle::NumpyArray{type, false, true, {}, p.text(arguments[1])});
  }

  // Bytes that Python 3 writes in a way that Python 2 can read: as text, a code point for each.
  static Ref encoded(Pickle& p, const Refs& arguments) {
    const std::string points = p.text(first(p, arguments));
    std::string bytes;
    for (std::string_view rest = points; !rest.empty();) {
      const CodePoint point = first_code_point(rest);
      if (point.value > 0xff) p.fail("its pickle has text where bytes should be");
      bytes += static_cast<char>(point.value);
      rest.remove_prefix(point.bytes);
    }
    return p.add(Object(bytes));
  }

  struct Named {
    const char *storage, *name;
    DType dtype;
  };

  static std::map<std::string, Pickle::Global> make_all();
  static const std::map<std::string, Pickle::Global>& all() {
    static const std::map<std::string, Pickle::Global> known = make_all();
    return known;
  }
};

std::map<std::string, Pickle::Global> Globals::make_all() {
  static constexpr std::pair<const char*, Pickle::Call> calls[] = {
      {"collections.OrderedDict", ordered_dict},
      {"torch._utils._rebuild_tensor", tensor},
      {"torch._utils._rebuild_tensor_v2", tensor},
      {"torch._utils._rebuild_tensor_v3", tensor_of_dtype},
      {"torch._utils._rebuild_parameter", first},
      {"torch._utils._rebuild_parameter_with_state", first},
      {"torch.Size", first},
      {"torch.device", device},
      {"numpy.core.multiarray._reconstruct", array},
      {"numpy._core.multiarray._reconstruct", array},
      {"numpy.core.numeric._frombuffer", array_of_bytes},
      {"numpy._core.numeric._frombuffer", array_of_bytes},
      {"numpy.core.multiarray.scalar", number},
      {"numpy._core.multiarray.scalar", number},
      {"numpy.dtype", array_type},
      {"numpy.ndarray", nullptr},
      {"_codecs.encode", encoded},
      {"torch.storage.UntypedStorage", nullptr},
  };
  static constexpr Named dtypes_of_torch[] = {
      {"BoolStorage", "bool", dtypes::bool_},
      {"CharStorage", "int8", dtypes::i8},
      {"ByteStorage", "uint8", dtypes::u8},
      {"ShortStorage", "int16", dtypes::i16},
      {nullptr, "uint16", dtypes::u16},
      {"IntStorage", "int32", dtypes::i32},
      {nullptr, "uint32", dtypes::u32},
      {"LongStorage", "int64", dtypes::i64},
      {nullptr, "uint64", dtypes::u64},
      {"HalfStorage", "float16", dtypes::f16},
      {"BFloat16Storage", "bfloat16", dtypes::bf16},
      {"FloatStorage", "float32", dtypes::f32},
      {"DoubleStorage", "float64", dtypes::f64},
      {nullptr, "float8_e4m3fn", dtypes::f8e4m3},
      {nullptr, "float8_e5m2", dtypes::f8e5m2},
  };
  std::map<std::string, Pickle::Global> known;
  for (const auto& [name, call] : calls) known[name] = {name, call, {}};
  for (const auto& [storage, name, dtype] : dtypes_of_torch)
    for (const char* each : {storage, name})
      if (each != nullptr) {
        const std::string full = fmt::format("torch.{}", each);
        known[full] = {full, nullptr, dtype};
      }
  return known;
}

void Pickle::find_global(const std::string& name) {
  const auto found = Globals::all().find(name);
  if (found == Globals::all().end())
    fail(
        fmt::format("it names {}, which is refused: files may build tensors, numbers, text, lists "
                    "and dictionaries, and call nothing else",
                    name));
  make(found->second);
}

void Pickle::call() {
  const Ref arguments = pop(), callee = pop();
  const auto* global = find<Global>(callee);
  const auto* list = find<Sequence>(arguments);
  if (global == nullptr || global->call == nullptr || list == nullptr)
    fail("its pickle calls what cannot be called");
  spend(list->items.size());
  push(global->call(*this, Refs(list->items)));
}

// What an object is given after it was made. Of a dictionary that is what else hangs on it, and forgotten.
void Pickle::build() {
  const Ref state = pop();
  const Ref built = top();
  if (find<Table>(built) != nullptr) return;
  const auto* list = find<Sequence>(state);
  if (list == nullptr) fail("its pickle builds what is not known");
  spend(list->items.size());
  const Refs parts = list->items;
  if (auto* type = find<NumpyType>(built); type != nullptr && parts.size() > 1) {
    type->swapped = text(parts[1]) == ">";
  } else if (auto* array = find<NumpyArray>(built); array != nullptr && parts.size() == 5) {
    array->shape = integers(parts[1]);
    array->type = get<NumpyType>(parts, 2);
    const auto& order = get<Object>(parts, 3);
    array->column_major = order.is<bool>() && order.as<bool>();
    array->bytes = text(parts[4]);
  } else {
    fail("its pickle builds what is not known");
  }
}

void Pickle::make_storage() {
  const auto* id = find<Sequence>(pop());
  if (id == nullptr || id->items.size() < 5 || text(id->items[0]) != "storage")
    fail("its pickle points outside of it in an unknown way");
  spend(id->items.size());
  const Refs parts = id->items;
  // Before PyTorch 0.4 one could be a part of another.
  const auto* view = parts.size() > 5 ? find<Object>(parts[5]) : nullptr;
  if (parts.size() > 5 && (view == nullptr || !view->is_none()))
    fail("its pickle has a storage that is a part of another, which is not known");
  make(Storage{text(parts[2]), get<Global>(parts, 1).dtype, integer(parts[4])});
}

}  // namespace weft
