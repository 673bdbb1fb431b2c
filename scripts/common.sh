# What the scripts here share. To be sourced.
#
# Variables that a user may set:
#   PYTHON            the Python to make .venv from, if no environment is active; default: the
#                     first of python3, python and python3.<minor> that multipy takes
#   MULTIPY_BUILD_DIR where to build; default: build/ in the repository
#   MULTIPY_JOBS      compilers at once; default: by processors and memory

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${MULTIPY_BUILD_DIR:-$root/build}
# What a Python without torch gets: what everything is developed with, else the newest.
readonly torch_requirements=('torch==2.13.0' 'torch>=2.4')

# What a script says of itself at its head, and nothing else done.
if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  sed -n '2,/^[^#]/{ /^#/!q; s/^# \{0,1\}//; p; }' "$0"
  exit
fi

say() { printf '\n== %s\n' "$*" >&2; }
die() { printf '\nerror: %s\n' "$*" >&2; exit 1; }

# Installs the system's packages that are listed and missing.
install_system_packages() {
  local list install
  if command -v dpkg-query >/dev/null; then
    list=debian.txt
    installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
    install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends)
  elif command -v dnf >/dev/null; then
    list=redhat.txt
    installed() { rpm -q --quiet --whatprovides "$1"; }
    install=(dnf install -y -q --setopt=install_weak_deps=False)
  else
    return 0  # another system: cmake will say what it misses
  fi
  local missing=() package unless
  while read -r package unless; do
    [[ -z $package || $package == \#* ]] && continue
    [[ -n $unless ]] && command -v "$unless" >/dev/null && continue
    installed "$package" || missing+=("$package")
  done <"$root/scripts/packages/$list"
  [[ ${#missing[@]} -eq 0 ]] && return 0

  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || die "these packages are missing and this is not root: run as root: ${install[*]} ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  [[ $list == debian.txt ]] && "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" "${install[@]}" "${missing[@]}" >&2
}

python_version() {
  "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

can_import() {  # can_import <python> <module>, without importing it
  "$1" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)' "$2" 2>/dev/null
}

# The versions of CPython that multipy takes: "3.10 3.11 ...".
supported_pythons() {
  sed -n 's/^set(MULTIPY_SUPPORTED_PYTHON \(.*\))/\1/p' "$root/cmake/MultipyPython.cmake"
}

# Sets `python`: that of the active environment, else of .venv, which is made.
choose_python() {
  if [[ -n ${VIRTUAL_ENV:-} ]]; then
    python=$VIRTUAL_ENV/bin/python
    return
  fi
  python=$root/.venv/bin/python
  if [[ ! -x $python ]] || ! "$python" -c '' 2>/dev/null; then
    local base= options=()
    find_base_python
    # A torch that this Python can import already is used as it is.
    can_import "$base" torch && options=(--system-site-packages)
    say "making $root/.venv with $base"
    "$base" -m venv --clear "${options[@]}" "$root/.venv"
  fi
}

# Sets `base`: the Python to make an environment of.
find_base_python() {
  local supported candidate version found=
  supported=$(supported_pythons)
  # shellcheck disable=SC2086
  for candidate in ${PYTHON:-python3 python $(printf 'python%s ' $supported)}; do
    version=$(python_version "$candidate") || continue
    [[ " $supported " == *" $version "* ]] && base=$candidate && return
    found+="${found:+, }$candidate ($version)"
  done
  die "no Python that multipy takes: found ${found:-none} as ${PYTHON:-python3, python or python3.<minor>}, expected CPython ${supported// /, }. Install one, activate an environment of one, or name one with PYTHON=/path/to/python"
}

install_python_packages() {
  local pip=("$python" -m pip --disable-pip-version-check --quiet) requirement
  if ! can_import "$python" torch; then
    for requirement in "${torch_requirements[@]}"; do
      say "installing $requirement"
      "${pip[@]}" install "$requirement" && break
    done
    can_import "$python" torch || die "pip could not install any of: ${torch_requirements[*]} into $python"
  fi
  # A torch that is there stays as it is: pip must not replace it.
  local listed
  listed=$(mktemp)
  sed '/^torch\b/d' "$root/scripts/packages/python.txt" "$root"/examples/*/requirements.txt >"$listed"
  # transformers 5 does not see a torch before 2.6.
  if "$python" -c 'import sys, torch; sys.exit(tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 6))'; then
    sed -i '/^transformers\b/d' "$listed"
    echo 'transformers==4.57.6' >>"$listed"
  fi
  "${pip[@]}" install -r "$listed" || die "pip could not install $(grep -v '^#' "$listed" | tr '\n' ' ')into $python"
  rm -f "$listed"
  local nodeps
  for nodeps in "$root"/examples/*/requirements-nodeps.txt; do
    "${pip[@]}" install --no-deps -r "$nodeps" || die "pip could not install what $nodeps lists into $python"
  done
}

setup() {
  install_system_packages
  choose_python
  install_python_packages
}

# The python3.<minor> of this version, from the folders of MULTIPY_PYTHONS ("a:b") or from PATH.
base_python() {  # base_python <version>
  local folder found
  IFS=: read -ra folders <<<"${MULTIPY_PYTHONS:-}"
  for folder in "${folders[@]}"; do
    found=$folder/python$1
    [[ $(python_version "$found") == "$1" ]] && echo "$found" && return
  done
  found=$(command -v "python$1") && [[ $(python_version "$found") == "$1" ]] && echo "$found" && return
  die "no CPython $1 found as python$1 in MULTIPY_PYTHONS or on PATH"
}

# An environment with torch as PyPI gives it by default, unless it is there already.
make_pair() {  # make_pair <folder> <torch>-<python>
  local base
  if [[ ! -x $1/bin/python ]] || ! can_import "$1/bin/python" torch; then
    base=$(base_python "${2#*-}")
    "$base" -m venv --clear "$1"
    # Three equals signs: 2.13.0+cpu, which some index or folder may offer, is another one.
    "$1/bin/python" -m pip --disable-pip-version-check install --quiet --no-compile "torch===${2%-*}" >&2
  fi
}

site_packages() { "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

# An environment of its own, which has the packages of `python` too.
make_environment_above() {  # make_environment_above <folder>
  [[ -x $1/bin/python ]] || "$python" -m venv "$1"
  site_packages "$python" >"$(site_packages "$1/bin/python")/other.pth"
}

# A file that includes torch's headers takes its compiler more than 1 GB.
compile_jobs() {
  if [[ -n ${MULTIPY_JOBS:-} ]]; then
    echo "$MULTIPY_JOBS"
    return
  fi
  local processors memory
  processors=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo)
  [[ $memory -lt 1 ]] && memory=1
  echo $((memory < processors ? memory : processors))
}

# Debian's static libpython lacks CPython's own hash functions from 3.13 on: a copy that has them.
completed_libpython() {
  echo "$root/build/cpython/libpython$("$python" -c 'import platform; print(platform.python_version())')-complete.a"
}

# Makes it where it is needed: sets `completed` then.
complete_libpython() {
  local complete=$root/third_party/cpython/complete status=0
  # (A Python that cannot be asked is cmake's to refuse.)
  "$complete" --check --python "$python" 2>/dev/null || status=$?
  [[ $status -eq 3 ]] || return 0
  completed=$(completed_libpython)
  "$complete" --python "$python" --output "$completed" >&2
}

# configure <preset> <folder> [cmake arguments]
configure() {
  local preset=$1 folder=$2 options=()
  shift 2
  if command -v ccache >/dev/null; then
    options=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    # The same file compiled from another build folder is the same file: what lies in the folder
    # itself, as precompiled headers do, goes by its place there.
    export CCACHE_NOHASHDIR=1
    export CCACHE_BASEDIR=$folder
    # What ccache asks for where headers are precompiled.
    export CCACHE_SLOPPINESS=pch_defines,time_macros
  fi
  local completed=
  complete_libpython
  [[ -z $completed ]] || options+=("-DMULTIPY_LIBPYTHON=$completed")
  say "configuring $folder for $python"
  cmake -S "$root" --preset "$preset" -B "$folder" "-DMULTIPY_PYTHON=$python" "${options[@]}" "$@" >&2
}

# compile <folder> [target...]
compile() {
  local folder=$1 targets=()
  shift
  [[ $# -gt 0 ]] && targets=(--target "$@")
  say "building ${*:-all} in $folder"
  cmake --build "$folder" --parallel "$(compile_jobs)" "${targets[@]}" >&2
}

# The torch.package of the sentence search, with plain Python's answers beside it.
export_sentence_encoder() {  # export_sentence_encoder <folder>
  local example=$root/examples/03_sentence_search file
  for file in export.py sentence_encoder.py corpus.txt queries.txt; do
    [[ ! $1/reference.pt -nt $example/$file ]] || continue
    say "exporting the sentence encoder"
    "$python" -B "$example/export.py" "$1" >&2
    return
  done
}
