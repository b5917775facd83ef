import type { CredentialProviderPaths, StoreSettings } from './settings.ts';

/** A program with its first arguments: `node dist/kubelet.js`. */
export interface Program {
  readonly program: string;
  readonly args: readonly string[];
}

/** What the user asked of `up`; what is absent is remembered from last time, else chosen. */
export interface UpOptions {
  readonly name: string;
  readonly dataDir?: string | undefined;
  /** 0: any free one. Absent: 6443 or the next free one. */
  readonly port?: number | undefined;
  /** The control plane alone. */
  readonly apiOnly?: boolean | undefined;
  /** CRI v1, `unix:///path`; absent: a containerd of the cluster's own. */
  readonly runtimeEndpoint?: string | undefined;
  readonly podCIDR?: string | undefined;
  /** A folder with the user's own network configuration, which is only read. */
  readonly cniConfigDir?: string | undefined;
  readonly store?: StoreSettings | undefined;
  readonly nodeName?: string | undefined;
  readonly sandboxImage?: string | undefined;
  readonly timings?: Readonly<Record<string, number>> | undefined;
  /** A `KubeletConfiguration`, checked. */
  readonly kubelet?: Readonly<Record<string, unknown>> | undefined;
  readonly credentialProviders?: CredentialProviderPaths | undefined;
  readonly programs: { readonly supervisor: Program; readonly controlPlane: Program; readonly kubelet: Program };
}
