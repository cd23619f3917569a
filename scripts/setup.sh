#!/bin/sh
# Installs the Debian packages that are missing: scripts/setup.sh build | test
#
# `build` is what the library and the command need, `test` adds what the suite needs. Asks nothing;
# says nothing and changes nothing where all is there. Elsewhere than on Debian, or with
# WICK_SETUP=no in the environment, it does nothing, and the build says what it misses.
set -eu

build='gcc g++ libc6-dev make cmake ninja-build pkg-config llvm-19-dev
  libpng-dev libjpeg-dev libzip-dev libjansson-dev zlib1g-dev
  libpcre2-dev libwebp-dev libtiff-dev libopenjp2-7-dev'
test='libcmocka-dev python3 python3-venv python3-dev
  clang libclang-rt-14-dev clang-format lld-19 binutils
  gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
  gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-user qemu-system-arm nodejs'

case ${1:-} in
build) wanted=$build ;;
test) wanted="$build $test" ;;
*) echo "usage: scripts/setup.sh build | test" >&2; exit 2 ;;
esac
[ "${WICK_SETUP:-}" != no ] || exit 0
command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || exit 0

# shellcheck disable=SC2086  # the lists are split at spaces on purpose
have=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
  sed -n 's/^installed //p') || true
missing=
for package in $wanted; do
  case "
$have
" in
  *"
$package
"*) ;;
  *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root='sudo -n'
else
  echo "Wick needs packages that only root can install. Run:" >&2
  echo "  apt-get install$missing" >&2
  echo "(or set WICK_SETUP=no to go on without them)" >&2
  exit 1
fi

echo "installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt='apt-get -q -y -o Dpkg::Use-Pty=0 -o Acquire::Retries=3'
$as_root $apt update
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive $apt install --no-install-recommends $missing
