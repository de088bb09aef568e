#pragma once

#include <c10/util/FunctionRef.h>

#include <cstddef>
#include <span>
#include <string>

namespace torch_webgpu::ops {

// Choice among kernels that do the same, by measurement. Opt-in by
// TORCH_WEBGPU_AUTOTUNE=1; else a family's own choose() decides alone.
//
// The best of a (family, shape class) is found on its first use and kept: in
// the process, and in a folder for other processes, by adapter, driver,
// implementation and version. What is kept names the candidate; a file that is
// damaged, foreign, or names none of today's candidates counts as none.
bool autotuning();

// The number of the best candidate. `names` must be stable between processes;
// `run` launches a candidate on the call's own operands, several times, so it
// must give the same result each time. Blocks while it measures. Any thread.
size_t tuned(const std::string& family, const std::string& shape_class,
             std::span<const std::string> names,
             c10::function_ref<void(size_t)> run);

// What is kept for it, measured earlier or in another process: for calls that
// cannot be repeated. `otherwise` if there is nothing.
size_t tuned_before(const std::string& family, const std::string& shape_class,
                    std::span<const std::string> names, size_t otherwise);

// "1048576" for every size from 2^20 up to below 2^21.
std::string size_class(uint64_t size);

}  // namespace torch_webgpu::ops
