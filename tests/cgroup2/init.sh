#!/bin/busybox sh
# First program of the virtual machine: loads what the kernel needs, lays a writable layer over the host's read-only root, and hands over
# to the guest program there. cgroups are version 2 and nothing else.
/bin/busybox --install -s /bin
export PATH=/bin
mkdir -p /proc /sys /dev /host /modules /rw /new
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev

give_up() {
  echo "GUEST: $1"
  poweroff -f
}

for module in crc32c_generic virtio_pci 9pnet_virtio 9p overlay virtio_net bridge br_netfilter veth tun loop nf_tables nft_compat nft_chain_nat nf_nat \
  nf_conntrack xt_comment xt_addrtype xt_conntrack xt_mark xt_MASQUERADE xt_nat xt_tcpudp xt_multiport xt_statistic xt_REDIRECT ip6_tables ip_tables; do
  modprobe "$module" || echo "GUEST: no module $module"
done

options=trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144
mount -t 9p -o "$options" host /host || give_up 'the root of the host cannot be mounted'
mount -t tmpfs -o mode=755,size=4g tmpfs /rw
mkdir -p /rw/upper /rw/work
mount -t overlay -o lowerdir=/host,upperdir=/rw/upper,workdir=/rw/work overlay /new || give_up 'no writable layer'

for folder in proc sys dev; do mount --move "/$folder" "/new/$folder"; done
mkdir -p /new/dev/pts /new/dev/shm /new/run /new/tmp
mount -t devpts -o ptmxmode=666 devpts /new/dev/pts
for folder in dev/shm run tmp; do mount -t tmpfs -o mode=1777 tmpfs "/new/$folder"; done
mount -t cgroup2 cgroup2 /new/sys/fs/cgroup
for controller in $(cat /new/sys/fs/cgroup/cgroup.controllers); do
  echo "+$controller" >/new/sys/fs/cgroup/cgroup.subtree_control || echo "GUEST: no controller $controller"
done

ip link set lo up
ip addr add 10.0.2.15/24 dev eth0
ip link set eth0 up
ip route add default via 10.0.2.2
hostname guest
echo 1 >/new/proc/sys/net/ipv4/ip_forward

program=$(sed -n 's/.*guest=\([^ ]*\).*/\1/p' /new/proc/cmdline)
exec switch_root /new /bin/sh "$program"
