/** How a static pod and its mirror know each other. */
export const staticAnnotation = {
  /** `file` or `http`. */
  source: 'kubernetes.io/config.source',
  /** When the kubelet saw it first. */
  seen: 'kubernetes.io/config.seen',
  /** Of the static pod: its uid. */
  hash: 'kubernetes.io/config.hash',
  /** Of the mirror: the uid of the static pod. */
  mirror: 'kubernetes.io/config.mirror',
} as const;
