#include <weft/dev/rules/custom_op.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include <fmt/core.h>
#include <weft/dev/ir/movement.h>
#include <weft/error.h>

namespace weft {
namespace {

struct AddedOps {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const CustomOp>, std::less<>> by_name;
};

AddedOps& added_ops() {
  // Leaked on purpose: guards in static objects may go after any destructor here.
  static auto& all = *new AddedOps;
  return all;
}

std::shared_ptr<const CustomOp> find_op(std::string_view name) {
  const std::lock_guard lock(added_ops().mutex);
  const auto found = added_ops().by_name.find(name);
  if (found == added_ops().by_name.end())
    user_error(
        fmt::format("there is no op '{}': an AddedOp of this name has to live until what is "
                    "made of it is realized",
                    name));
  return found->second;
}

// The ops whose meaning this thread is asking for.
thread_local std::vector<std::string_view> asked;

UOp meaning_of(std::string_view name, const std::vector<UOp>& operands) {
  const auto op = find_op(name);
  if (std::ranges::find(asked, name) != asked.end())
    user_error(fmt::format("the meaning of op '{}' leads back to itself", name));
  struct Asking {
    explicit Asking(std::string_view op_name) { asked.push_back(op_name); }
    ~Asking() { asked.pop_back(); }
  } const asking(name);
  UOp value = op->meaning(operands);
  if (value.is_null()) user_error(fmt::format("the meaning of op '{}' is null", name));
  return value;
}

const std::string& name_of(const Node* custom) { return custom->arg<CustomArg>().code.get(); }

// Symbolic sizes may be written in several ways.
bool can_agree(const Node* size, const Node* other) {
  return size == other || !size->is_const() || !other->is_const();
}

UOp with_meaning(const Match& m) {
  const Node* custom = m.root();
  const UOp value = meaning_of(custom, operands_of(custom));
  if (value->dtype() != custom->dtype() ||
      !std::ranges::equal(value->dims(), custom->dims(), can_agree))
    user_error(fmt::format("op '{}' means another dtype or shape than when the node was made",
                           name_of(custom)));
  return value;
}

}  // namespace

AddedOp::AddedOp(std::string_view name, CustomOp op) : name_(std::string(name)) {
  if (!op.meaning) user_error(fmt::format("op '{}' needs a meaning", name));
  const std::lock_guard lock(added_ops().mutex);
  if (!added_ops()
           .by_name.try_emplace(std::string(name), std::make_shared<CustomOp>(std::move(op)))
           .second)
    user_error(fmt::format("there is an op '{}' already", name));
}

AddedOp::~AddedOp() {
  const std::lock_guard lock(added_ops().mutex);
  added_ops().by_name.erase(added_ops().by_name.find(name_.get()));
}

UOp custom_op(std::string_view name, const std::vector<UOp>& operands) {
  const UOp value = meaning_of(name, operands);
  std::vector<UOp> src{tuple(sizes_of(value))};
  src.insert(src.end(), operands.begin(), operands.end());
  return make(Op::Custom, src, value->dtype(), CustomArg{Symbol(std::string(name))});
}

std::shared_ptr<const CustomOp> definition_of(const Node* custom) {
  return find_op(name_of(custom));
}

std::vector<UOp> operands_of(const Node* custom) {
  std::vector<UOp> operands;
  for (std::size_t i = 1; i < custom->size(); ++i) operands.emplace_back(custom->src(i));
  return operands;
}

UOp meaning_of(const Node* custom, const std::vector<UOp>& operands) {
  return meaning_of(name_of(custom), operands);
}

const RuleSet& custom_rules() {
  static const RuleSet rules{"custom", {rule(node(Op::Custom), with_meaning)}};
  return rules;
}

}  // namespace weft
