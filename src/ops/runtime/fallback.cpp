#include "ops/runtime/fallback.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_copy_from_and_resize.h>
#include <torch/library.h>

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

#include "ops/random/generator.h"

namespace torch_webgpu::ops {
namespace {

struct State {
  std::mutex mutex;
  std::map<std::string, uint64_t> counts;
  std::set<std::string> warned;  // survives a reset of the counts
  std::atomic<FallbackPolicy> policy{FallbackPolicy::Warn};
};

State& state() {
  static State* state = new State;
  return *state;
}

// A CPU generator that continues ours: the same seed gives the same numbers,
// and each call takes new ones.
at::Generator cpu_generator(const std::optional<at::Generator>& ours) {
  const PhiloxState philox = reserve_philox(ours, 1);
  // Golden-ratio steps keep neighbouring offsets' seeds apart.
  return at::detail::createCPUGenerator(philox.seed +
                                        philox.offset * 0x9E3779B97F4A7C15ull);
}

// Torch's own check, which the CPU kernel could not make any more: a generator
// belongs to the device of the tensor that it fills.
void check_generator(const c10::IValue& generator,
                     c10::ArrayRef<c10::IValue> arguments) {
  c10::DeviceType expected = c10::kPrivateUse1;
  for (const c10::IValue& argument : arguments) {
    if (argument.isTensor() && argument.toTensor().defined()) {
      expected = argument.toTensor().device().type();
      break;
    }
  }
  const c10::DeviceType found = generator.toGenerator().device().type();
  TORCH_CHECK(found == expected, "Expected a '", expected,
              "' device type for generator but found '", found, "'");
}

// Gives the operator a CPU generator where its schema takes one. Returns
// whether the schema has such an argument.
bool replace_generator(const c10::FunctionSchema& schema,
                       torch::jit::Stack& stack) {
  const auto& arguments = schema.arguments();
  const size_t first = stack.size() - arguments.size();
  bool found = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const c10::TypePtr& type = arguments[i].type();
    const bool takes_generator =
        type->kind() == c10::TypeKind::GeneratorType ||
        (type->kind() == c10::TypeKind::OptionalType &&
         type->expectRef<c10::OptionalType>().getElementType()->kind() ==
             c10::TypeKind::GeneratorType);
    if (!takes_generator) {
      continue;
    }
    found = true;
    c10::IValue& value = stack[first + i];
    if (value.isNone()) {
      value = cpu_generator(std::nullopt);
    } else {
      check_generator(value, c10::ArrayRef(stack).slice(first));
      value = cpu_generator(value.toGenerator());
    }
  }
  return found;
}

// For random operators whose schema has no generator: they draw from the CPU's
// default one, which gets our seed meanwhile and its own state back afterwards.
class BorrowDefaultCpuGenerator {
 public:
  BorrowDefaultCpuGenerator()
      : generator_(at::detail::getDefaultCPUGenerator()) {
    const at::Generator ours = cpu_generator(std::nullopt);
    std::lock_guard lock(generator_.mutex());
    saved_ = generator_.clone();
    generator_.set_state(ours.get_state());
  }
  ~BorrowDefaultCpuGenerator() {
    std::lock_guard lock(generator_.mutex());
    generator_.set_state(saved_.get_state());
  }
  BorrowDefaultCpuGenerator(const BorrowDefaultCpuGenerator&) = delete;
  BorrowDefaultCpuGenerator& operator=(const BorrowDefaultCpuGenerator&) =
      delete;

 private:
  at::Generator generator_;
  at::Generator saved_;
};

// Calls `visit` with every tensor of an argument or a result, and puts what it
// returns in the tensor's place.
template <class Visit>
void replace_tensors(c10::IValue& value, Visit&& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) value = visit(value.toTensor());
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> tensors;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      tensors.push_back(tensor.defined() ? visit(tensor) : tensor);
    }
    value = std::move(tensors);
  } else if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> tensors;
    for (const std::optional<at::Tensor>& tensor :
         value.toOptionalTensorVector()) {
      tensors.push_back(tensor && tensor->defined() ? visit(*tensor) : tensor);
    }
    value = std::move(tensors);
  }
}

bool is_written(const c10::Argument& argument) {
  return argument.alias_info() && argument.alias_info()->isWrite();
}

// The check that an operator's own kernel would make, which the CPU kernel can
// not: it sees only CPU tensors. A CPU tensor without dimensions is a number,
// unless it is written.
void check_devices(const c10::OperatorHandle& op,
                   const torch::jit::Stack& stack) {
  const auto& arguments = op.schema().arguments();
  const size_t first = stack.size() - arguments.size();
  for (size_t i = 0; i < arguments.size(); ++i) {
    c10::IValue value = stack[first + i];
    replace_tensors(value, [&](const at::Tensor& tensor) {
      TORCH_CHECK(
          tensor.device().type() == c10::kPrivateUse1 ||
              (tensor.device().is_cpu() && tensor.dim() == 0 &&
               !is_written(arguments[i])),
          "Expected all tensors to be on the same device, webgpu:0, but ",
          op.operator_name(), " found one on ", tensor.device(),
          "; move it with .to('webgpu').");
      return tensor;
    });
  }
}

// The two operators of the CPU that write to arguments of which their schemas
// say nothing.
bool is_written_in_secret(const c10::FunctionSchema& schema,
                          const c10::Argument& argument) {
  return (schema.name() == "aten::native_batch_norm" ||
          schema.name() == "aten::batch_norm_update_stats") &&
         (argument.name() == "running_mean" ||
          argument.name() == "running_var");
}

// The tensors that the CPU kernel writes, where torch's fallback would not hand
// them over right.
class Outputs {
 public:
  void replace(const c10::FunctionSchema& schema, torch::jit::Stack& stack) {
    const auto& arguments = schema.arguments();
    const size_t first = stack.size() - arguments.size();
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (is_written(arguments[i])) {
        // Dense ones instead of strided ones: some of torch's kernels (tril,
        // triu, lu_unpack) take strides for granted and write elsewhere.
        replace_tensors(stack[first + i], [&](const at::Tensor& tensor) {
          return tensor.is_contiguous() ? tensor : dense_of(tensor);
        });
      } else if (is_written_in_secret(schema, arguments[i])) {
        replace_tensors(stack[first + i], [&](const at::Tensor& tensor) {
          return pairs_.emplace_back(Pair{tensor, tensor.cpu().contiguous()})
              .replaced;
        });
      }
    }
  }

  // Copies back, and puts the caller's own tensors among the results.
  void restore(const c10::FunctionSchema& schema, torch::jit::Stack& stack) {
    if (pairs_.empty()) return;
    for (const Pair& pair : pairs_) {
      at::_copy_from_and_resize(pair.replaced, pair.original);
    }
    const size_t first = stack.size() - schema.returns().size();
    for (size_t i = first; i < stack.size(); ++i) {
      replace_tensors(stack[i], [&](const at::Tensor& tensor) {
        for (const Pair& pair : pairs_) {
          if (pair.replaced.is_same(tensor)) return pair.original;
        }
        return tensor;
      });
    }
  }

 private:
  struct Pair {
    at::Tensor original;
    at::Tensor replaced;
  };

  at::Tensor dense_of(const at::Tensor& tensor) {
    at::assert_no_internal_overlap(tensor);
    return pairs_.emplace_back(Pair{tensor, tensor.contiguous()}).replaced;
  }

  std::vector<Pair> pairs_;
};

// Torch's fallback sends new results to the device of the first tensor, which
// may be a number on the CPU.
void results_to_device(const c10::FunctionSchema& schema,
                       torch::jit::Stack& stack) {
  const auto& returns = schema.returns();
  const size_t first = stack.size() - returns.size();
  for (size_t i = 0; i < returns.size(); ++i) {
    if (returns[i].alias_info()) continue;
    replace_tensors(stack[first + i], [](const at::Tensor& tensor) {
      return tensor.to(tensor.options().device(c10::kPrivateUse1));
    });
  }
}

}  // namespace

void cpu_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const bool takes_generator = replace_generator(op.schema(), *stack);
  check_devices(op, *stack);
  note_fallback(c10::toString(op.operator_name()));
  std::optional<BorrowDefaultCpuGenerator> borrowed;
  if (!takes_generator && op.hasTag(at::Tag::nondeterministic_seeded)) {
    borrowed.emplace();
  }
  Outputs outputs;
  outputs.replace(op.schema(), *stack);
  at::native::cpu_fallback(op, stack);
  outputs.restore(op.schema(), *stack);
  results_to_device(op.schema(), *stack);
}

torch::jit::Stack cpu_call(const char* name, const char* overload,
                           torch::jit::Stack arguments) {
  const c10::OperatorHandle op =
      c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
  cpu_fallback(op, &arguments);
  return arguments;
}

FallbackPolicy parse_fallback_policy(const std::string& name) {
  if (name == "warn") {
    return FallbackPolicy::Warn;
  }
  if (name == "error") {
    return FallbackPolicy::Error;
  }
  if (name == "silent") {
    return FallbackPolicy::Silent;
  }
  TORCH_CHECK_VALUE(false, "webgpu: TORCH_WEBGPU_FALLBACK=", name,
                    " is unknown; set it to warn, error or silent.");
}

void set_fallback_policy(FallbackPolicy policy) {
  state().policy = policy;
}

void note_fallback(const std::string& name) {
  const FallbackPolicy policy = state().policy;
  TORCH_CHECK_NOT_IMPLEMENTED(
      policy != FallbackPolicy::Error, "webgpu: ", name,
      " has no GPU kernel for these arguments, and TORCH_WEBGPU_FALLBACK="
      "error forbids the CPU; set it to warn or silent, or move the tensors "
      "with .cpu() first.");
  bool warn;
  {
    std::lock_guard lock(state().mutex);
    ++state().counts[name];
    warn = policy == FallbackPolicy::Warn && state().warned.insert(name).second;
  }
  if (warn) {
    TORCH_WARN(
        "webgpu: ", name,
        " has no GPU kernel for these arguments and runs on the CPU, with a "
        "copy there and back. TORCH_WEBGPU_FALLBACK=silent hides this, =error "
        "forbids it; torch.webgpu.fallback_counts() counts it.");
  }
}

std::map<std::string, uint64_t> fallback_counts() {
  std::lock_guard lock(state().mutex);
  return state().counts;
}

void reset_fallback_counts() {
  std::lock_guard lock(state().mutex);
  state().counts.clear();
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&cpu_fallback>());
}

}  // namespace torch_webgpu::ops
