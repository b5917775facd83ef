import { quote } from '#api/quote.ts';
import type { AdmissionInput, Refusal } from './admission-input.ts';

/** Sysctls that cannot hurt the node or other pods. Source: upstream's list. */
const SAFE = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
]);

/** A sysctl that belongs to a namespace which the pod shares with the node would change the node. */
export function sysctlsPredicate({ pod, allowedSysctls }: AdmissionInput): Refusal | undefined {
  const { spec } = pod;
  for (const { name: written } of spec?.securityContext?.sysctls ?? []) {
    const name = written.replaceAll('/', '.');
    const problem = problemOf(name, spec?.hostNetwork === true, spec?.hostIPC === true, allowedSysctls);
    if (problem !== undefined) return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${quote(written)} ${problem}` };
  }
  return undefined;
}

function problemOf(name: string, hostNetwork: boolean, hostIpc: boolean, allowed: readonly string[]): string | undefined {
  if (!SAFE.has(name) && !allowed.some((pattern) => matches(pattern.replaceAll('/', '.'), name))) return 'not allowlisted';
  if (hostNetwork && name.startsWith('net.')) return 'not allowed with host net enabled';
  if (hostIpc && /^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/.test(name)) return 'not allowed with host ipc enabled';
  return undefined;
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
