# Sourced by the scripts beside it: where things are, and how to build quickly.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
VENV=$ROOT/.venv
export PATH="$VENV/bin:$PATH:/usr/sbin:/sbin"
: "${CMAKE_BUILD_PARALLEL_LEVEL:=$(getconf _NPROCESSORS_ONLN)}"
export CMAKE_BUILD_PARALLEL_LEVEL

# Paths below the tree are hashed relative to it and include files by content,
# so a fresh clone in another folder finds what an earlier one compiled.
export CCACHE_BASEDIR=$ROOT CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=time_macros,include_file_mtime,include_file_ctime

fail() {
  echo "torch-webgpu: $1" >&2
  exit 1
}
