import { Counter, Histogram, type Registry } from 'prom-client';

/** What is counted about credential provider plugins, under upstream's names. */
export interface PluginMetrics {
  failed(plugin: string): void;
  ran(plugin: string, tookMs: number): void;
}

export function createPluginMetrics(registry: Registry): PluginMetrics {
  const failed = new Counter({
    name: 'kubelet_credential_provider_plugin_errors_total',
    help: 'Number of errors from credential provider plugin',
    labelNames: ['plugin_name'],
    registers: [registry],
  });
  const took = new Histogram({
    name: 'kubelet_credential_provider_plugin_duration',
    help: 'Duration of execution in seconds for credential provider plugin',
    labelNames: ['plugin_name'],
    registers: [registry],
  });
  return {
    failed: (plugin) => failed.inc({ plugin_name: plugin }),
    ran: (plugin, tookMs) => took.observe({ plugin_name: plugin }, tookMs / 1000),
  };
}
