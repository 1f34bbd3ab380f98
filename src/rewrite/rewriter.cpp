#include <weft/dev/rewrite/rewriter.h>

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

namespace weft {
namespace {

constexpr std::uint64_t applications_per_node = 256, applications_at_least = 1u << 20;
constexpr std::size_t remembered = 64;  // last applications, to name the rules of a cycle

class Rewriter {
 public:
  Rewriter(const RuleSet& rules, const RewriteOptions& options, Interner& interner)
      : rules_(rules), options_(options), interner_(interner) {
    if (options_.pass.empty()) options_.pass = rules.name();
    budget_ = options_.budget != 0
                  ? options_.budget
                  : std::max(applications_at_least, applications_per_node * interner.size());
  }

  const Node* fixed_point(const Node* root) {
    visit(root);
    while (!stack_.empty()) step();
    return *final_.find(root);
  }

  const Node* once(const Node* root) {
    for (const Node* node : toposort(root)) {
      if (final_.contains(node)) continue;  // of an earlier root
      const Node* now = rebuilt(node);
      const Node* after = apply(now);
      final_.set(node, after != nullptr ? after : now);
    }
    return *final_.find(root);
  }

 private:
  enum class Stage : std::uint8_t { Enter, Sources, Result };
  struct Frame {
    const Node* node;
    Stage stage;
    const Node* now = nullptr;     // the node with final sources
    const Node* result = nullptr;  // what a rule made of it
    const Rule* rule = nullptr;
  };

  // Queues the node unless it is final. An open node is being rewritten right now: it came back
  // as part of its own result.
  void visit(const Node* node) {
    const Node* const* known = final_.find(node);
    if (known == nullptr)
      stack_.push_back({node, Stage::Enter});
    else if (*known == nullptr)
      cycle(node);
  }

  void open(const Node* node) { final_.set(node, nullptr); }

  void step() {
    Frame& frame = stack_.back();
    switch (frame.stage) {
      case Stage::Enter: enter(frame); break;
      case Stage::Sources: sources_done(frame); break;
      case Stage::Result: finish(frame, *final_.find(frame.result)); break;
    }
  }

  void enter(Frame& frame) {
    const Node* node = frame.node;
    if (final_.contains(node)) {  // queued twice, and done meanwhile
      stack_.pop_back();
      return;
    }
    open(node);
    frame.now = node;
    if (options_.order == Order::TopDown && rewritten(frame)) return;
    frame.stage = Stage::Sources;
    for (std::size_t i = node->size(); i-- > 0;) visit(node->src(i));
  }

  void sources_done(Frame& frame) {
    frame.now = rebuilt(frame.node);
    if (frame.now != frame.node) {
      if (const Node* const* known = final_.find(frame.now)) {
        if (*known == nullptr) cycle(frame.now);
        final_.set(frame.node, *known);
        stack_.pop_back();
        return;
      }
      open(frame.now);
    } else if (options_.order == Order::TopDown) {
      finish(frame, frame.now);  // its rules were tried on the way down
      return;
    }
    if (!rewritten(frame)) finish(frame, frame.now);
  }

  bool rewritten(Frame& frame) {
    const Node* result = apply(frame.now, &frame.rule);
    if (result == nullptr) return false;
    frame.result = result;
    frame.stage = Stage::Result;
    visit(result);
    return true;
  }

  void finish(Frame& frame, const Node* result) {
    final_.set(frame.now, result);
    final_.set(frame.node, result);
    stack_.pop_back();
  }

  const Node* rebuilt(const Node* node) {
    bool changed = false;
    sources_.clear();
    for (const Node* source : node->src()) {
      const Node* now = *final_.find(source);
      changed = changed || now != source;
      sources_.push_back(now);
    }
    return changed ? with_sources(interner_, node, sources_) : node;
  }

  const Node* apply(const Node* node, const Rule** applied = nullptr) {
    const RuleSet::Result result = rules_.apply(node, interner_, options_.context);
    if (result.node == nullptr) return nullptr;
    if (applied != nullptr) *applied = result.rule;
    if (result.node->dtype() != node->dtype())
      internal_error(fmt::format("{}: rule {} turned {} into {}", options_.pass, result.rule->str(),
                                 node->dtype().str(), result.node->dtype().str()));
    interner_.inherit(result.node, node, interner_);
    if (options_.trace != nullptr)
      options_.trace->applied(options_.pass, *result.rule, node, result.node);
    if (++count_ + remembered > budget_) last_.push_back(result.rule);
    if (count_ > budget_) no_end(last_, fmt::format("after {} applications", budget_));
    return result.node;
  }

  [[noreturn]] void cycle(const Node* node) {
    std::vector<const Rule*> loop;
    for (auto frame = stack_.rbegin(); frame != stack_.rend(); ++frame) {
      if (frame->rule != nullptr) loop.push_back(frame->rule);
      if (frame->node == node || frame->now == node) break;
    }
    std::ranges::reverse(loop);
    no_end(loop, fmt::format("at {}", expression_text(node)));
  }

  [[noreturn]] void no_end(const std::vector<const Rule*>& loop, const std::string& where) {
    std::vector<std::string> names;
    for (const Rule* rule : loop)
      if (const std::string name = rule->str(); std::ranges::find(names, name) == names.end())
        names.push_back(name);
    internal_error(fmt::format("{}: the rules do not come to an end {}:\n  {}", options_.pass,
                               where, fmt::join(names, "\n  ")));
  }

  const RuleSet& rules_;
  RewriteOptions options_;
  Interner& interner_;
  NodeMap<const Node*> final_;  // null: open
  std::vector<Frame> stack_;
  std::vector<const Node*> sources_;
  std::vector<const Rule*> last_;
  std::uint64_t count_ = 0, budget_ = 0;
};

}  // namespace

std::vector<UOp> in_arena(const std::vector<UOp>& roots,
                          const std::function<std::vector<UOp>(const std::vector<UOp>&)>& run) {
  if (std::ranges::none_of(roots, [](const UOp& root) { return root->is_counted(); }))
    return run(roots);
  Arena arena;
  const std::vector<UOp> copies = import_graph(nodes_of(roots), shared_graph(), arena);
  const InternerScope scope(arena);
  return import_graph(nodes_of(run(copies)), arena, shared_graph());
}

namespace {

std::vector<UOp> each(const std::vector<UOp>& roots, const RuleSet& rules,
                      const RewriteOptions& options, const Node* (Rewriter::*walk)(const Node*)) {
  return in_arena(roots, [&](const std::vector<UOp>& inside) {
    Rewriter rewriter(rules, options, Interner::current());
    std::vector<UOp> results;
    for (const UOp& root : inside) results.emplace_back((rewriter.*walk)(root.node()));
    return results;
  });
}

}  // namespace

std::vector<UOp> rewrite(const std::vector<UOp>& roots, const RuleSet& rules,
                         const RewriteOptions& options) {
  return each(roots, rules, options, &Rewriter::fixed_point);
}

std::vector<UOp> rewrite_once(const std::vector<UOp>& roots, const RuleSet& rules,
                              const RewriteOptions& options) {
  return each(roots, rules, options, &Rewriter::once);
}

UOp rewrite(const UOp& root, const RuleSet& rules, const RewriteOptions& options) {
  return rewrite(std::vector<UOp>{root}, rules, options)[0];
}

UOp rewrite_once(const UOp& root, const RuleSet& rules, const RewriteOptions& options) {
  return rewrite_once(std::vector<UOp>{root}, rules, options)[0];
}

}  // namespace weft
