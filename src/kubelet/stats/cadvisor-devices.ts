import type { DiskUsage, InterfaceUsage, Reading } from '../ports/usage.ts';
import type { NamedCgroup } from './named-cgroups.ts';
import { counter, type Family, gauge, type Sample } from './prometheus-text.ts';

export function filesystems(cgroups: readonly NamedCgroup[]): readonly Family[] {
  const of = (read: (filesystem: NonNullable<NamedCgroup['filesystem']>) => Reading) =>
    samples(cgroups, ({ filesystem }) => (filesystem === undefined ? undefined : read(filesystem)), { device: '' });
  return [
    gauge(
      'container_fs_usage_bytes',
      'Bytes in use on the file system',
      of(({ usedBytes }) => usedBytes),
    ),
    gauge(
      'container_fs_limit_bytes',
      'Bytes that the file system holds',
      of(({ room }) => room?.capacityBytes),
    ),
    gauge(
      'container_fs_inodes_total',
      'Inodes of the file system',
      of(({ room }) => room?.inodes),
    ),
    gauge(
      'container_fs_inodes_free',
      'Free inodes of the file system',
      of(({ room }) => room?.inodesFree),
    ),
  ];
}

export function disks(cgroups: readonly NamedCgroup[]): readonly Family[] {
  const of = (read: (one: DiskUsage) => number): readonly Sample[] =>
    cgroups.flatMap(({ labels, atMs, disks: all }) => all.map((one) => ({ labels: { ...labels, device: one.device }, value: read(one), atMs })));
  const operations: readonly (readonly [string, (one: DiskUsage) => number])[] = [
    ['Read', ({ readBytes }) => readBytes],
    ['Write', ({ writtenBytes }) => writtenBytes],
  ];
  const byOperation = operations.flatMap(([operation, read]) => of(read).map((one) => ({ ...one, labels: { ...one.labels, operation } })));
  return [
    counter('container_blkio_device_usage_total', 'Bytes read from and written to a disk', byOperation),
    counter(
      'container_fs_reads_total',
      'Reads from a disk',
      of(({ reads }) => reads),
    ),
    counter(
      'container_fs_reads_bytes_total',
      'Bytes read from a disk',
      of(({ readBytes }) => readBytes),
    ),
    counter(
      'container_fs_writes_total',
      'Writes to a disk',
      of(({ writes }) => writes),
    ),
    counter(
      'container_fs_writes_bytes_total',
      'Bytes written to a disk',
      of(({ writtenBytes }) => writtenBytes),
    ),
  ];
}

export function network(cgroups: readonly NamedCgroup[]): readonly Family[] {
  const of = (read: (one: InterfaceUsage) => number): readonly Sample[] =>
    cgroups.flatMap(({ labels, atMs, interfaces }) =>
      interfaces.map((one) => ({ labels: { ...labels, interface: one.name }, value: read(one), atMs })),
    );
  return [
    counter(
      'container_network_receive_bytes_total',
      'Bytes received',
      of(({ rxBytes }) => rxBytes),
    ),
    counter(
      'container_network_receive_packets_total',
      'Packets received',
      of(({ rxPackets }) => rxPackets),
    ),
    counter(
      'container_network_receive_packets_dropped_total',
      'Packets dropped while receiving',
      of(({ rxDropped }) => rxDropped),
    ),
    counter(
      'container_network_receive_errors_total',
      'Errors while receiving',
      of(({ rxErrors }) => rxErrors),
    ),
    counter(
      'container_network_transmit_bytes_total',
      'Bytes sent',
      of(({ txBytes }) => txBytes),
    ),
    counter(
      'container_network_transmit_packets_total',
      'Packets sent',
      of(({ txPackets }) => txPackets),
    ),
    counter(
      'container_network_transmit_packets_dropped_total',
      'Packets dropped while sending',
      of(({ txDropped }) => txDropped),
    ),
    counter(
      'container_network_transmit_errors_total',
      'Errors while sending',
      of(({ txErrors }) => txErrors),
    ),
  ];
}

/** @param read undefined: the cgroup has no line */
export function samples(
  cgroups: readonly NamedCgroup[],
  read: (one: NamedCgroup) => Reading,
  more: Readonly<Record<string, string>> = {},
): readonly Sample[] {
  return cgroups.map((one) => ({ labels: { ...one.labels, ...more }, value: read(one), atMs: one.atMs }));
}
