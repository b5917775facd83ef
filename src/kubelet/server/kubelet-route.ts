export interface ContainerTarget {
  readonly namespace: string;
  readonly pod: string;
  /** undefined: any pod of that name. */
  readonly uid: string | undefined;
  readonly container: string;
}

export type KubeletRoute =
  /** `check`: '' for all of them. */
  | { readonly kind: 'healthz'; readonly check: string }
  | { readonly kind: 'pods' | 'runningpods' | 'configz' | 'summary' | 'statusz' | 'flagz' | 'verbosity' }
  /** Its name below the path, '' for the list. */
  | { readonly kind: 'profiling'; readonly name: string }
  /** Its path names the page. */
  | { readonly kind: 'metrics' }
  /** Below the host's folder of logs, with its slashes. */
  | { readonly kind: 'logs'; readonly path: string }
  | ({ readonly kind: 'containerLogs' | 'run' | 'checkpoint' } & ContainerTarget)
  | ({ readonly kind: 'exec' | 'attach' } & ContainerTarget)
  | ({ readonly kind: 'portForward' } & Omit<ContainerTarget, 'container'>)
  | { readonly kind: 'unknown' };

/** What a path of the kubelet's server means. */
export function kubeletRoute(path: string): KubeletRoute {
  const parts = decoded(path);
  if (parts === undefined) return unknown;
  const [first = '', ...rest] = parts;
  return pageRoute(first, rest) ?? podRoute(first, rest) ?? unknown;
}

const unknown: KubeletRoute = { kind: 'unknown' };

function pageRoute(first: string, rest: readonly string[]): KubeletRoute | undefined {
  switch (first) {
    case 'healthz':
      return rest.length <= 1 ? { kind: first, check: rest[0] ?? '' } : undefined;
    case 'pods':
    case 'runningpods':
    case 'configz':
    case 'statusz':
    case 'flagz':
      return rest.length === 0 ? { kind: first } : undefined;
    case 'metrics':
      return rest.length <= 1 ? { kind: first } : undefined;
    case 'stats':
      return rest.join('/') === 'summary' ? { kind: 'summary' } : undefined;
    case 'logs':
      return { kind: first, path: rest.join('/') };
    case 'debug':
      if (rest[0] === 'pprof') return { kind: 'profiling', name: rest.slice(1).join('/') };
      return rest.join('/') === 'flags/v' ? { kind: 'verbosity' } : undefined;
    default:
      return undefined;
  }
}

function podRoute(first: string, [namespace = '', pod = '', ...rest]: readonly string[]): KubeletRoute | undefined {
  switch (first) {
    case 'containerLogs':
      return rest.length <= 1 ? { kind: first, namespace, pod, uid: undefined, container: rest[0] ?? '' } : undefined;
    case 'checkpoint':
      return rest.length === 1 ? { kind: first, namespace, pod, uid: undefined, container: rest[0] ?? '' } : undefined;
    case 'run':
    case 'exec':
    case 'attach':
      if (pod === '' || rest.length < 1 || rest.length > 2) return undefined;
      return { kind: first, namespace, pod, uid: rest.length === 2 ? rest[0] : undefined, container: rest.at(-1) ?? '' };
    case 'portForward':
      return pod === '' || rest.length > 1 ? undefined : { kind: first, namespace, pod, uid: rest[0] };
    default:
      return undefined;
  }
}

function decoded(path: string): readonly string[] | undefined {
  try {
    return path.replace(/^\//, '').replace(/\/$/, '').split('/').map(decodeURIComponent);
  } catch {
    return undefined; // not valid percent-encoding
  }
}
