import { Gauge, type Registry } from 'prom-client';
import type { Node } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { Watchable } from '#base/watchable.ts';

/** When parts of the node's start happened, epoch. */
export interface NodeStartup {
  readonly hostBootedAtMs: number;
  readonly kubeletStartedAtMs: number;
  /** The kubelet is about to register the node. */
  readonly registeringAtMs: number;
}

/** Times the start of a node that is new to the API server, once: until it is Ready. A node that was there before has no figures, as upstream. */
export function timeNodeStartup(registry: Registry, startup: NodeStartup, node: Watchable<Node | undefined>, clock: Clock): void {
  const { hostBootedAtMs, kubeletStartedAtMs, registeringAtMs } = startup;
  let registeredAtMs: number | undefined;
  const look = (now: Node | undefined): void => {
    if (now === undefined) return;
    if (registeredAtMs === undefined && Date.parse(now.metadata.creationTimestamp) < Math.floor(registeringAtMs / 1000) * 1000)
      return void unsubscribe();
    registeredAtMs ??= clock.now();
    if (!isReady(now)) return;
    unsubscribe();
    const readyAtMs = clock.now();
    const told: readonly (readonly [name: string, help: string, fromMs: number, toMs: number])[] = [
      ['pre_kubelet_', 'Time from the boot of the host until the kubelet started', hostBootedAtMs, kubeletStartedAtMs],
      ['pre_registration_', 'Time from the start of the kubelet until it registered the node', kubeletStartedAtMs, registeringAtMs],
      ['registration_', 'Time until the node was registered', registeringAtMs, registeredAtMs],
      ['post_registration_', 'Time from the registration of the node until it was Ready', registeredAtMs, readyAtMs],
      ['', 'Time from the boot of the host until the node was Ready', hostBootedAtMs, readyAtMs],
    ];
    for (const [part, help, fromMs, toMs] of told) {
      const name = `kubelet_node_startup_${part}duration_seconds`;
      new Gauge({ name, help, registers: [registry] }).set((toMs - fromMs) / 1000);
    }
  };
  const unsubscribe = node.subscribe(look);
  look(node.get());
}

function isReady({ status }: Node): boolean {
  return (status?.conditions ?? []).some(({ type, status: now }) => type === 'Ready' && now === 'True');
}
