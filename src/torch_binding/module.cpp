#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <c10/util/Exception.h>

#include "hal/device.h"
#include "hal/errors.h"
#include "hal/stream.h"
#include "ops/kernel/registry.h"
#include "ops/runtime/fallback.h"
#include "ops/runtime/runtime.h"
#include "torch_binding/availability.h"
#include "torch_binding/bench.h"
#include "torch_binding/generated.h"
#include "torch_binding/python_objects.h"
#include "torch_binding/shader_library.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace torch_webgpu::binding {
namespace {

using NoGil = nb::call_guard<nb::gil_scoped_release>;

template <class Work>
decltype(auto) without_gil(Work&& work) {
  nb::gil_scoped_release no_gil;
  return std::forward<Work>(work)();
}

// A wait for the GPU may come from any operator or torch function, whose caller
// has released the interpreter's lock or not.
void* release_gil() {
  return Py_IsInitialized() && PyGILState_Check() ? PyEval_SaveThread()
                                                  : nullptr;
}

void take_gil_back(void* thread) {
  if (thread) PyEval_RestoreThread(static_cast<PyThreadState*>(thread));
}

hal::DeviceOptions options_from_python(const nb::object& resolve) {
  nb::gil_scoped_acquire gil;
  try {
    const nb::object found = resolve();
    hal::DeviceOptions options;
    options.implementation = hal::parse_implementation(
        nb::cast<std::string>(found.attr("implementation")));
    options.procs.library = nb::cast<std::string>(found.attr("library"));
    options.procs.get_proc_address = reinterpret_cast<void*>(
        nb::cast<uintptr_t>(found.attr("get_proc_address")));
    options.adapter = nb::cast<std::string>(found.attr("adapter"));
    options.validation = nb::cast<bool>(found.attr("validation"));
    options.cache_folder = nb::cast<std::string>(found.attr("cache_folder"));
    options.tuning_folder = nb::cast<std::string>(found.attr("tuning_folder"));
    options.waiting = {release_gil, take_gil_back};
    return options;
  } catch (nb::python_error& error) {
    // Only the sentence: this runs inside operators, whose traceback is
    // already the user's.
    throw hal::Unavailable(nb::str(error.value()).c_str());
  }
}

void raise_as(const char* type, const char* message) {
  const nb::object exception = nb::module_::import_("torch").attr(type);
  PyErr_SetString(exception.ptr(), message);
}

// HAL and c10 exceptions that leave one of this module's own functions; those
// that leave an operator pass through torch's translation instead.
void translate(const std::exception_ptr& error, void*) {
  try {
    ops::as_torch([&] { std::rethrow_exception(error); });
  } catch (const c10::OutOfMemoryError& oom) {
    raise_as("OutOfMemoryError", oom.what_without_backtrace());
  } catch (const c10::ValueError& value) {
    PyErr_SetString(PyExc_ValueError, value.what_without_backtrace());
  } catch (const c10::IndexError& index) {
    PyErr_SetString(PyExc_IndexError, index.what_without_backtrace());
  } catch (const c10::TypeError& type) {
    PyErr_SetString(PyExc_TypeError, type.what_without_backtrace());
  } catch (const c10::NotImplementedError& missing) {
    PyErr_SetString(PyExc_NotImplementedError,
                    missing.what_without_backtrace());
  } catch (const c10::Error& other) {
    PyErr_SetString(PyExc_RuntimeError, other.what_without_backtrace());
  }
}

nb::dict limits_dict(const hal::Limits& limits) {
  nb::dict result;
  result["max_buffer_size"] = limits.max_buffer_size;
  result["max_storage_binding_size"] = limits.max_storage_binding_size;
  result["max_storage_buffers"] = limits.max_storage_buffers;
  result["max_workgroups_per_dimension"] = limits.max_workgroups_per_dimension;
  result["max_workgroup_invocations"] = limits.max_workgroup_invocations;
  result["max_workgroup_storage"] = limits.max_workgroup_storage;
  return result;
}

nb::dict info_dict(const hal::DeviceInfo& info) {
  nb::dict result;
  result["implementation"] = info.implementation;
  result["name"] = info.name;
  result["vendor"] = info.vendor;
  result["architecture"] = info.architecture;
  result["description"] = info.description;
  result["backend"] = info.backend;
  result["adapter_type"] = info.adapter_type;
  result["vendor_id"] = info.vendor_id;
  result["device_id"] = info.device_id;
  result["subgroup_min"] = info.subgroup_min;
  result["subgroup_max"] = info.subgroup_max;
  result["shader_f16"] = info.shader_f16;
  result["subgroups"] = info.subgroups;
  result["timestamps"] = info.timestamps;
  result["limits"] = limits_dict(info.limits);
  return result;
}

nb::dict stats_dict() {
  // All zero before the device exists: asking must not create it.
  const hal::Stats stats = without_gil([] {
    return ops::device_created() ? ops::device().stats() : hal::Stats{};
  });
  nb::dict result;
  result["dispatches"] = stats.dispatches;
  result["submits"] = stats.submits;
  result["pipelines_created"] = stats.pipelines_created;
  result["bind_groups_created"] = stats.bind_groups_created;
  result["buffers_created"] = stats.buffers_created;
  result["shader_modules_created"] = stats.shader_modules_created;
  result["copies"] = stats.copies;
  result["writes"] = stats.writes;
  result["readbacks"] = stats.readbacks;
  result["waits"] = stats.waits;
  result["cache_loads"] = stats.cache_loads;
  result["cache_stores"] = stats.cache_stores;
  return result;
}

nb::list timings_list() {
  const std::vector<hal::KernelTiming> timings =
      without_gil([] { return ops::device().stream().take_timings(); });
  nb::list result;
  for (const hal::KernelTiming& timing : timings) {
    result.append(nb::make_tuple(timing.label, timing.begin_ns, timing.end_ns));
  }
  return result;
}

const std::vector<ops::ListedKernel>& listed() {
  static const auto* kernels =
      new std::vector<ops::ListedKernel>(ops::list_kernels());
  return *kernels;
}

nb::list listed_dicts() {
  nb::list result;
  for (const ops::ListedKernel& kernel : listed()) {
    nb::dict entry;
    entry["name"] = kernel.name;
    entry["key"] = nb::bytes(kernel.key.data(), kernel.key.size());
    entry["wgsl"] = kernel.source.wgsl;
    entry["entry_point"] = kernel.source.entry_point;
    entry["subgroups"] = kernel.source.subgroups;
    result.append(entry);
  }
  return result;
}

void compile_listed(size_t index) {
  TORCH_CHECK_VALUE(index < listed().size(), "webgpu: there are ",
                    listed().size(), " listed kernels, got index ", index);
  // Not kept: all of them together fill the memory.
  ops::device().compile_outside(listed()[index].source);
}

// At exit: finish what was queued, and stay quiet about a device that is gone.
void finish() {
  if (ops::device_created()) {
    try {
      ops::device().stream().synchronize();
    } catch (const std::exception&) {
    }
  }
}

void launch_kernel(const UserKernel& kernel, const nb::args& arguments,
                   const std::tuple<uint32_t, uint32_t, uint32_t>& grid) {
  std::vector<at::Tensor> tensors;
  for (const nb::handle argument : arguments) {
    tensors.push_back(unpack_tensor(argument.ptr()));
  }
  const auto [x, y, z] = grid;
  nb::gil_scoped_release no_gil;
  kernel.launch(tensors, {x, y, z});
}

}  // namespace

NB_MODULE(_C, m) {
  nb::register_exception_translator(&translate);
  // Objects that live until exit are normal here, as everywhere in torch.
  nb::set_leak_warnings(false);

  m.def("set_device_options", [](nb::object resolve) {
    // Leaked with the device: it may be called until the process ends.
    auto* kept = new nb::object(std::move(resolve));
    ops::set_device_options([kept] { return options_from_python(*kept); });
  });
  m.def("create_device", [] { ops::device(); }, NoGil());
  m.def("device_created", &ops::device_created);
  m.def("in_bad_fork", &ops::in_bad_fork);
  m.def("available", &available, NoGil());
  m.def("unavailable_reason", &unavailable_reason, NoGil());
  m.def("finish", &finish, NoGil());
  m.def("synchronize", [] { ops::device().stream().synchronize(); }, NoGil());

  m.def("adapter_info", [] {
    const hal::DeviceInfo& info =
        without_gil([]() -> auto& { return ops::device().info(); });
    return info_dict(info);
  });
  m.def("list_adapters", [] {
    const auto infos =
        without_gil([] { return hal::list_adapters(ops::device_options()); });
    nb::list result;
    for (const auto& info : infos) {
      result.append(info_dict(info));
    }
    return result;
  });
  m.def("stats", &stats_dict);
  m.def(
      "memory_limit", [] { return ops::device().pool().memory_limit(); },
      NoGil());

  m.def(
      "set_window", [](uint32_t n) { ops::device().stream().set_window(n); },
      NoGil());
  m.def(
      "set_profiling",
      [](bool on) { ops::device().stream().set_profiling(on); }, NoGil());
  m.def("take_timings", &timings_list);
  m.def("bench_bare_dispatch", &bench_bare_dispatch, NoGil());
  m.def("bench_buffer_copy", [](nb::handle src, nb::handle dst) {
    bench_buffer_copy(unpack_tensor(src.ptr()), unpack_tensor(dst.ptr()));
  });

  m.def("list_kernels", &listed_dicts);
  m.def("compile_listed", &compile_listed, NoGil());

  m.def("set_fallback_policy", [](const std::string& name) {
    ops::set_fallback_policy(ops::parse_fallback_policy(name));
  });
  m.def("fallback_counts", &ops::fallback_counts);
  m.def("reset_fallback_counts", &ops::reset_fallback_counts);

  m.def("default_generator",
        [] { return nb::steal(wrap_default_generator()); });

  nb::class_<UserKernel>(m, "UserKernel")
      .def(nb::init<const std::string&, const std::string&, const std::string&,
                    const std::vector<bool>&, bool, bool>(),
           "label"_a, "wgsl"_a, "entry_point"_a, "writes"_a,
           "trusted"_a = false, "subgroups"_a = false, NoGil())
      .def("launch", &launch_kernel, "tensors"_a, nb::kw_only(), "grid"_a);
  bind_generated_kernels(m);
}

}  // namespace torch_webgpu::binding
