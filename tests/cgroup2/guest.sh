#!/bin/sh
# Runs in the virtual machine, on the host's own files: the tests, then the end.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb
here=$(dirname "$0")
node=$(sed -n 's/.*node=\([^ ]*\).*/\1/p' /proc/cmdline)
only=$(sed -n 's/.*only=\([^ ]*\).*/\1/p' /proc/cmdline)
echo "GUEST: up after $(cut -d' ' -f1 /proc/uptime) s, controllers: $(cat /sys/fs/cgroup/cgroup.controllers)"
# The clock of the machine stands where the host's stood at its start.
"$node" --test-reporter=spec --test-name-pattern="$only" --test "$here/../../.cache/cgroup2/cgroup2.guest.mjs"
echo "GUEST: ended with $?"
sync
echo o >/proc/sysrq-trigger
sleep 60
