import { quote } from '#api/quote.ts';
import { InvalidInput } from '#base/errors.ts';
import type { AdmissionInput, Refusal } from './admission-input.ts';

/** Sysctls that cannot hurt the node or other pods, with the first kernel in which they are namespaced. Source: upstream's list. */
const SAFE: Readonly<Record<string, string>> = {
  'kernel.shm_rmid_forced': '0.0',
  'net.ipv4.ip_local_port_range': '0.0',
  'net.ipv4.tcp_syncookies': '0.0',
  'net.ipv4.ping_group_range': '0.0',
  'net.ipv4.ip_unprivileged_port_start': '0.0',
  'net.ipv4.ip_local_reserved_ports': '3.16',
  'net.ipv4.tcp_keepalive_time': '4.5',
  'net.ipv4.tcp_keepalive_intvl': '4.5',
  'net.ipv4.tcp_keepalive_probes': '4.5',
  'net.ipv4.tcp_fin_timeout': '4.6',
  'net.ipv4.tcp_rmem': '4.15',
  'net.ipv4.tcp_wmem': '4.15',
};

/** A sysctl that belongs to a namespace which the pod shares with the node would change the node. */
export function sysctlsPredicate({ pod, node, allowedSysctls }: AdmissionInput): Refusal | undefined {
  const { spec } = pod;
  for (const sysctl of spec?.securityContext?.sysctls ?? []) {
    const name = dotted(sysctl.name);
    const isAllowed = isSafe(name, node.kernelVersion) || allowedSysctls.some((pattern) => matches(dotted(pattern), name));
    const problem = isAllowed ? sharingProblem(name, spec?.hostNetwork === true, spec?.hostIPC === true) : 'not allowlisted';
    if (problem !== undefined) return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${quote(name)} ${problem}` };
  }
  return undefined;
}

/**
 * Patterns that a node may allow: of sysctls that have a namespace.
 *
 * @throws {InvalidInput} for one that would change the node whoever sets it
 */
export function checkAllowedSysctls(patterns: readonly string[]): readonly string[] {
  for (const pattern of patterns) {
    if (namespaceOf(dotted(pattern)) !== undefined) continue;
    throw new InvalidInput({
      message: `the sysctls ${quote(pattern)} are not known to be namespaced`,
      hint: 'allowedUnsafeSysctls may name kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.* and net.*',
    });
  }
  return patterns;
}

function sharingProblem(name: string, hostNetwork: boolean, hostIpc: boolean): string | undefined {
  const namespace = namespaceOf(name);
  if (namespace === 'net' && hostNetwork) return 'not allowed with host net enabled';
  return namespace === 'ipc' && hostIpc ? 'not allowed with host ipc enabled' : undefined;
}

function namespaceOf(name: string): 'net' | 'ipc' | undefined {
  if (name.startsWith('net.')) return 'net';
  return /^(kernel\.(shm|msg)|kernel\.sem\*?$|fs\.mqueue\.)/.test(name) ? 'ipc' : undefined;
}

function isSafe(name: string, kernelVersion: string): boolean {
  const since = Object.hasOwn(SAFE, name) ? SAFE[name] : undefined;
  return since !== undefined && versionOf(kernelVersion) >= versionOf(since);
}

/** `6.1.0-9-amd64` as 6001 */
function versionOf(text: string): number {
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(text) ?? [];
  return Number(major) * 1000 + Number(minor);
}

/** The kernel takes both ways of writing; which of the two it is, the first separator tells. */
function dotted(name: string): string {
  if (!/^[^./]*\//.test(name)) return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
