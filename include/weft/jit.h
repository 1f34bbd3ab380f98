// jit: a function of tensors that is run by its graph twice, and from then on by its kernels alone.
//
//   auto step = jit([&](const Tensor& x, const Tensor& y) {
//     optimizer.zero_grad();
//     Tensor loss = cross_entropy(model(x), y);
//     loss.backward();
//     optimizer.step();
//     return loss;
//   });
//   for (const auto& [x, y] : loader) std::cout << step(x, y).item<float>();
//
// The first call makes whatever the function makes once; the second is captured: which kernels run, on
// which memory. Later ones run those, on the tensors that they are given, without a graph.
//
// - Arguments are tensors, what holds tensors (WEFT_FIELDS, vectors, tuples ...), sizes that a variable is bound
//   to, and plain values. Tensors keep shape, dtype and device, plain values their value: a call that
//   changes them is refused, and says what changed.
// - What the function assigns to is assigned to in every call, whatever it is a part of. What it computes
//   comes back as a result: memory of its own, that no later call writes to while somebody holds it. Results
//   have no gradients.
// - Random numbers are others in every call, as they would be without jit.
// - Everything else of the program that the function reads or does belongs to the call that was captured:
//   numbers, branches, tensors that a handle is set to (`h = f(h)`; assign() to it instead), other than grad().
//   Values of tensors are not to be had within.
// - Gradients that it leaves in grad() are valid until a later call computes them anew: clone() what is to stay.
// - Several threads may call it. Where it assigns to nothing and draws no random numbers, calls that meet run side by side,
//   each on memory of its own; else they wait for each other.
//
// JIT=0 runs the function itself in each call.
#pragma once

#include <array>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/fields.h>

namespace weft {

// What a call is given besides tensors.
struct JitArguments {
  std::vector<NamedTensor> tensors;
  std::vector<UOp> sizes;          // bound variables
  std::vector<std::string> plain;  // the other arguments, as text
};

// A function with its arguments: what is left to give it is their tensors.
struct BoundCall {
  JitArguments arguments;
  // Results by their names: "result", and what holds several "result.NAME".
  std::function<std::vector<NamedTensor>(const std::vector<Tensor>& given)> function;
};

// Numbers of a captured function.
struct JitReport {
  std::size_t kernels = 0;      // and copies, that each call runs
  std::size_t own_bytes = 0;    // of memory for what lives between them
  std::size_t least_bytes = 0;  // of that what is needed at one time: it could not be less
};

// What a call returns: tensors, and what they stand in.
struct JitResults {
  std::vector<Tensor> tensors;
  std::shared_ptr<const void> form = nullptr;
};

// The calls of one function.
class Replay {
 public:
  using Body = std::function<JitResults(const std::vector<Tensor>& given)>;

  Replay();
  ~Replay();
  Replay(Replay&&) noexcept;
  Replay& operator=(Replay&&) noexcept;

  JitResults call(const JitArguments& arguments, const Body& body);
  // The same by what earlier calls captured; nothing where none has.
  std::optional<JitResults> replay(const JitArguments& arguments);
  JitReport report() const;
  void reset();  // the next call is the first one again

 private:
  class Captured;
  struct State;
  std::unique_ptr<State> state_;
};

namespace jitting {

template <class T>
std::string text_of(T number) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

template <class T>
void add(const T& argument, JitArguments& arguments, const std::string& name) {
  if constexpr (std::same_as<T, Dim>) {
    if (argument.is_symbolic())
      arguments.sizes.push_back(argument.uop());
    else
      arguments.plain.push_back(name + " = " + text_of(argument.uop()->lo()));
  } else if constexpr (std::is_enum_v<T>) {
    arguments.plain.push_back(name + " = " +
                              text_of(static_cast<std::underlying_type_t<T>>(argument)));
  } else if constexpr (std::same_as<T, bool>) {
    arguments.plain.push_back(name + (argument ? " = true" : " = false"));
  } else if constexpr (std::is_arithmetic_v<T>) {
    arguments.plain.push_back(name + " = " + text_of(argument));
  } else if constexpr (std::is_convertible_v<T, std::string>) {
    arguments.plain.push_back(name + " = " + std::string(argument));
  } else {
    for_each_tensor(
        argument,
        [&](const std::string& part, const Tensor& tensor) {
          if (!tensor.is_null()) arguments.tensors.emplace_back(part, tensor);
        },
        name);
  }
}

template <class T>
void put(T& value, const std::vector<Tensor>& tensors, std::size_t& next) {
  if constexpr (!std::same_as<T, Dim>)
    for_each_tensor(value, [&](const std::string&, Tensor& tensor) {
      if (!tensor.is_null()) tensor = tensors[next++];
    });
}

}  // namespace jitting

template <class F>
class Jit {
 public:
  explicit Jit(F function) : function_(std::move(function)) {}

  template <class... Args>
  auto operator()(const Args&... args) {
    using Given = std::invoke_result_t<F&, std::decay_t<const Args>&...>;
    using Result =
        std::conditional_t<std::derived_from<Given, Tensor>, Tensor, Given>;  // of x[i], a tensor
    JitArguments arguments;
    std::size_t number = 0;
    (jitting::add(args, arguments, "argument " + std::to_string(++number)), ...);
    if constexpr (std::is_void_v<Result>) {
      replay_.call(arguments, [&](const std::vector<Tensor>& given) {
        apply(given, args...);
        return JitResults();
      });
    } else {
      const JitResults results = replay_.call(arguments, [&](const std::vector<Tensor>& given) {
        Result result = apply(given, args...);
        std::vector<Tensor> found;
        for_each_tensor(result, [&](const std::string&, Tensor& tensor) {
          if (!tensor.is_null()) found.push_back(std::exchange(tensor, Tensor::constant(0)));
        });
        return JitResults{std::move(found), std::make_shared<const Result>(std::move(result))};
      });
      Result result = *static_cast<const Result*>(results.form.get());
      std::size_t next = 0;
      jitting::put(result, results.tensors, next);
      return result;
    }
  }

  // A call of the function itself, for others to capture. It looks at this object.
  template <class... Args>
  BoundCall bound(const Args&... args) {
    BoundCall call;
    std::size_t number = 0;
    (jitting::add(args, call.arguments, "argument " + std::to_string(++number)), ...);
    call.function = [this, args...](const std::vector<Tensor>& given) {
      std::vector<NamedTensor> results;
      if constexpr (std::is_void_v<std::invoke_result_t<F&, std::decay_t<const Args>&...>>) {
        apply(given, args...);
      } else {
        auto result = apply(given, args...);
        for_each_tensor(
            result,
            [&](const std::string& name, Tensor& tensor) {
              if (!tensor.is_null()) results.emplace_back(name, tensor);
            },
            "result");
      }
      return results;
    };
    return call;
  }

  JitReport report() const { return replay_.report(); }
  void reset() { replay_.reset(); }

 private:
  // The function, of arguments whose tensors are the given ones.
  template <class... Args>
  decltype(auto) apply(const std::vector<Tensor>& given, const Args&... args) {
    std::tuple<std::decay_t<const Args>...> own(args...);
    std::size_t next = 0;
    std::apply([&](auto&... each) { (jitting::put(each, given, next), ...); }, own);
    return std::apply(function_, own);
  }

  F function_;
  Replay replay_;
};

template <class F>
Jit<F> jit(F function) {
  return Jit<F>(std::move(function));
}

}  // namespace weft
