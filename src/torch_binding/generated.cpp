#include "torch_binding/generated.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "ops/kernel/generated.h"
#include "torch_binding/python_objects.h"

namespace torch_webgpu::binding {
namespace {

namespace nb = nanobind;
using namespace nb::literals;
using ops::GeneratedKernel;
using wgsl::Compute;
using wgsl::DType;
using wgsl::Mode;
using wgsl::Width;

// The value whose name stands at the same place of `names`.
template <class Value, size_t N>
Value value_of(const char* what, const std::string& name,
               const std::pair<const char*, Value> (&choices)[N]) {
  std::string known;
  for (const auto& [text, value] : choices) {
    if (name == text) return value;
    known += known.empty() ? text : std::string(", ") + text;
  }
  throw nb::value_error(
      ("webgpu: no " + std::string(what) + " " + name + "; use " + known)
          .c_str());
}

DType dtype_of(const std::string& name) {
  for (const DType dtype : wgsl::kAllDTypes) {
    if (name == wgsl::name_of(dtype)) return dtype;
  }
  throw nb::value_error(("webgpu: no kernel dtype " + name).c_str());
}

constexpr std::pair<const char*, Mode> kModes[] = {
    {"read", Mode::Read}, {"write", Mode::Write}, {"scatter", Mode::Scatter}};
constexpr std::pair<const char*, Width> kWidths[] = {
    {"element", Width::Element},
    {"quad", Width::Quad},
    {"chunk", Width::Chunk}};
constexpr std::pair<const char*, Compute> kComputes[] = {{"f32", Compute::F32},
                                                         {"i32", Compute::I32},
                                                         {"u32", Compute::U32},
                                                         {"i64", Compute::I64}};

// (name, dtype, mode, width, windows)
using OperandTuple =
    std::tuple<std::string, std::string, std::string, std::string, uint32_t>;
// (name, operands)
using WalkTuple = std::pair<std::string, std::vector<std::string>>;

void construct(GeneratedKernel* self, const std::string& label,
               const std::string& text,
               const std::vector<OperandTuple>& operands,
               const GeneratedKernel::Fields& fields,
               const std::vector<WalkTuple>& walks, uint32_t chunk,
               const std::string& compute, bool trusted, bool subgroups) {
  wgsl::KernelText kernel;
  kernel.label = label;
  kernel.text = text;
  kernel.chunk = chunk;
  kernel.compute = value_of("type to compute in", compute, kComputes);
  kernel.subgroups = subgroups;
  for (const auto& [name, dtype, mode, width, windows] : operands) {
    kernel.operands.push_back({name, dtype_of(dtype),
                               value_of("mode", mode, kModes), windows, "",
                               value_of("width", width, kWidths)});
  }
  for (const auto& [name, walked] : walks)
    kernel.walks.push_back({name, walked});
  const nb::gil_scoped_release no_gil;
  new (self) GeneratedKernel(std::move(kernel), fields, trusted);
}

void launch(const GeneratedKernel& kernel, const nb::args& arguments,
            const nb::bytes& values, uint64_t workgroups) {
  std::vector<at::Tensor> tensors;
  for (const nb::handle argument : arguments)
    tensors.push_back(unpack_tensor(argument.ptr()));
  const std::span bytes(static_cast<const std::byte*>(values.data()),
                        values.size());
  const nb::gil_scoped_release no_gil;
  kernel.launch(tensors, bytes, workgroups);
}

}  // namespace

void bind_generated_kernels(nb::module_& m) {
  nb::class_<GeneratedKernel>(m, "GeneratedKernel")
      .def("__init__", &construct, "label"_a, "text"_a, "operands"_a,
           "fields"_a, "walks"_a, "chunk"_a, "compute"_a, "trusted"_a,
           "subgroups"_a)
      .def("launch", &launch, "tensors"_a, nb::kw_only(), "values"_a,
           "workgroups"_a)
      .def_prop_ro("wgsl", &GeneratedKernel::wgsl);
}

}  // namespace torch_webgpu::binding
