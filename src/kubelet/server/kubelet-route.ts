export interface ContainerTarget {
  readonly namespace: string;
  readonly pod: string;
  /** undefined: any pod of that name. */
  readonly uid: string | undefined;
  readonly container: string;
}

export type KubeletRoute =
  | { readonly kind: 'healthz' }
  | { readonly kind: 'pods' }
  | { readonly kind: 'configz' }
  | { readonly kind: 'metrics' }
  | ({ readonly kind: 'containerLogs' | 'run' | 'exec' | 'attach' } & ContainerTarget)
  | ({ readonly kind: 'portForward' } & Omit<ContainerTarget, 'container'>)
  | { readonly kind: 'unknown' };

/** What a path of the kubelet's server means. */
export function kubeletRoute(path: string): KubeletRoute {
  const parts = decoded(path);
  const [first, namespace = '', pod = '', ...rest] = parts ?? [];
  switch (first) {
    case 'healthz':
    case 'pods':
    case 'configz':
    case 'metrics':
      return parts?.length === 1 ? { kind: first } : { kind: 'unknown' };
    case 'containerLogs':
      return rest.length <= 1 ? { kind: first, namespace, pod, uid: undefined, container: rest[0] ?? '' } : { kind: 'unknown' };
    case 'run':
    case 'exec':
    case 'attach': {
      if (pod === '' || rest.length < 1 || rest.length > 2) return { kind: 'unknown' };
      return { kind: first, namespace, pod, uid: rest.length === 2 ? rest[0] : undefined, container: rest.at(-1) ?? '' };
    }
    case 'portForward':
      return pod === '' || rest.length > 1 ? { kind: 'unknown' } : { kind: first, namespace, pod, uid: rest[0] };
    default:
      return { kind: 'unknown' };
  }
}

function decoded(path: string): readonly string[] | undefined {
  try {
    return path.replace(/^\//, '').replace(/\/$/, '').split('/').map(decodeURIComponent);
  } catch {
    return undefined; // not valid percent-encoding
  }
}
