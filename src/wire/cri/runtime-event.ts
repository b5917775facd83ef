/** What a runtime says about itself; the kubelet's runtime port has the same shape. */
export type RuntimeEvent =
  | { readonly kind: 'connected' }
  | { readonly kind: 'created' | 'started' | 'exited' | 'deleted' | 'oom'; readonly id: string }
  | { readonly kind: 'image'; readonly name: string };
