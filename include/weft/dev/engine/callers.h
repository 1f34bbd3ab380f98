// What made a tensor, for DEBUG=2 to say: a call of the program, or what the program has a name for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <weft/dev/ir/uop.h>

namespace weft {

// While one lives, what its thread makes is of this name, and not of the line that the program is at: a node of a
// model, a layer. Scopes nest: "encoder/attention". Text is only made when somebody asks for it, so a scope costs two
// stores otherwise; both of its texts outlive it. An empty name is left out, and hides the lines as well.
class NamedScope {
 public:
  explicit NamedScope(std::string_view name, std::string_view kind = {});
  ~NamedScope();
  NamedScope(const NamedScope&) = delete;
  NamedScope& operator=(const NamedScope&) = delete;

  static const NamedScope* current();  // of this thread; null without one
  std::string str() const;             // "encoder/attention", "9 (Conv)" of that kind
  Origin origin() const;

 private:
  const std::string_view name_, kind_;
  const NamedScope* const outer_;
  mutable std::optional<Origin> origin_;
};

// While one lives, its thread notes callers without DEBUG=2, and prints nothing.
class NotingCallers {
 public:
  NotingCallers();
  ~NotingCallers();
  NotingCallers(const NotingCallers&) = delete;
  NotingCallers& operator=(const NotingCallers&) = delete;

 private:
  bool was_on_;
};

bool notes_callers();  // by either

// Where callers are noted, the innermost scope or else the call that the program is in becomes the Origin of the tensor
// and of all nodes it is made of that have none: the one that made a node first stays.
void note_caller(const UOp& tensor);

// The name, or where the call was: "model.cpp:42".
std::string caller(Origin origin);
// Of the call that the program is in at present.
std::string present_caller();
bool is_named(Origin origin);

}  // namespace weft
