# Fetches a source package of Debian's. To be sourced; needs `say` and `die`.

# fetch_debian <package> <work folder> [version]: into <work folder>/debian as it
# is, and unpacked into <work folder>/source. Without a version the newest that
# can be had. The system's own list of mirrors is used with the type deb-src
# added, without changing it.
fetch_debian() {
  local package=$1 work=$2 wanted=${3:-}
  command -v apt-get >/dev/null || die "no apt-get here to fetch Debian's $package with: name a source tree or tarball with --source"
  command -v dpkg-source >/dev/null || die "dpkg-source is missing: apt-get install dpkg-dev"
  local apt=$work/apt
  mkdir -p "$apt"/{parts,lists/partial,cache/archives/partial} "$work/debian"
  local list
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    [[ -f $list ]] || continue
    case $list in
      *.sources) sed 's/^Types:.*/Types: deb-src/' "$list" >"$apt/parts/${list##*/}" ;;
      *.list) sed -n 's/^deb\(-src\)\? /deb-src /p' "$list" >"$apt/parts/${list##*/}" ;;
    esac
  done
  local apt_options=(-qq -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$apt/parts"
                 -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o "APT::Sandbox::User=$(id -un)")
  say "fetching Debian's source of $package ${wanted:-}"
  apt-get "${apt_options[@]}" update || say "some package lists could not be read; going on with the others"
  # A mirror may list a version that it has not got: then the next one.
  local versions version got=''
  versions=${wanted:-$(apt-cache "${apt_options[@]}" showsrc --only-source "$package" | awk '/^Version:/ {print $2}' | sort -rVu)}
  for version in $versions; do
    rm -f "$work"/debian/*
    (cd "$work/debian" && apt-get "${apt_options[@]}" --download-only source "$package=$version") && got=$version && break
  done
  [[ -n $got ]] ||
    die "Debian's source package $package ${wanted:-} could not be fetched with the mirrors of /etc/apt: name a source tree or tarball with --source"
  rm -rf "$work/source"
  dpkg-source --no-check -x "$work"/debian/*.dsc "$work/source" >&2
}
