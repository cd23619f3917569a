# Installs into a prefix, moves it, and builds a C consumer there with find_package and pkg-config.
# WICK_BUILD is the build folder; the static libraries come from a build of their own.
set -eu
here=$PWD/tests/install
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

expect() { # expect WANTED COMMAND...
  wanted=$1
  shift
  got=$("$@")
  [ "$got" = "$wanted" ] || { echo "$*: \"$got\" instead of \"$wanted\""; exit 1; }
}

version=$(sed -n 's/.*WICK_VERSION_M[AI][JN]OR //p' include/wick/wick.h | paste -sd.)

consume() { # consume PREFIX
  prefix=$1
  libdir=$(dirname "$(find "$prefix" -name pkgconfig)")
  export LD_LIBRARY_PATH=$libdir PKG_CONFIG_PATH=$libdir/pkgconfig
  expect "wick $version" "$prefix/bin/wick" --version
  cmake -G Ninja -S "$here" -B "$prefix/consumer" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
  cmake --build "$prefix/consumer" >/dev/null
  expect "wick $version 0" "$prefix/consumer/with_wick"
  expect "rt 0" "$prefix/consumer/with_rt"
  # shellcheck disable=SC2046  # flags are split at spaces
  "${CC:-cc}" "$here/consumer.c" $(pkg-config --cflags --libs wick) -o "$prefix/a"
  # shellcheck disable=SC2046
  "${CC:-cc}" "$here/consumer_rt.c" $(pkg-config --cflags --libs wick_rt) -o "$prefix/b"
  expect "wick $version 0" "$prefix/a"
  expect "rt 0" "$prefix/b"
  expect "$version" pkg-config --modversion wick
}

cmake --install "$WICK_BUILD" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
consume "$work/moved"
for file in man/man1/wick.1 man/man1/wick-run.1 bash-completion/completions/wick zsh/site-functions/_wick \
  fish/vendor_completions.d/wick.fish; do
  [ -s "$work/moved/share/$file" ] || { echo "share/$file is not installed"; exit 1; }
done

# libwick_rt holds nothing but the runtime; libwick exports nothing but wick_ names.
rt=$(find "$work/moved" -name 'libwick_rt.so')
lib=$(find "$work/moved" -name 'libwick.so')
expect "" sh -c "nm -D --undefined-only '$rt' | grep -E ' (wick_|LLVM)' || true"
expect "" sh -c "nm -D --defined-only '$lib' '$rt' | grep -E ' [TDBR] ' | grep -v ' wick_' || true"

cmake -G Ninja -S . -B "$work/static" -DBUILD_SHARED_LIBS=OFF -DWICK_TESTS=OFF -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_INSTALL_PREFIX="$work/archives" >/dev/null
cmake --build "$work/static" -j 2 >/dev/null
cmake --install "$work/static" >/dev/null
consume "$work/archives"
echo "installed, moved and used: shared and static, by find_package and by pkg-config"
