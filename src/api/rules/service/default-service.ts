import { changeItems, changePart, fill } from '#api/copy-on-write.ts';
import type { LoadBalancerIngress, Service, ServicePort, ServiceSpec } from '#api/types/core-v1.ts';
import { isExternallyAccessible, isLoadBalancer, needsClusterIp } from './service-facts.ts';

const affinityTimeoutSeconds = 10_800;

/** The same object when there is nothing to fill in. */
export function defaultService(service: Service): Service {
  const spec = service.spec ?? {};
  const typed = { ...service, spec: withAffinity(fill(spec, { type: 'ClusterIP', sessionAffinity: 'None' })) };
  const filled = fill(
    changePart(typed.spec, 'ports', (ports) => changeItems(ports, defaultPort)),
    {
      ...(isExternallyAccessible(typed) ? { externalTrafficPolicy: 'Cluster' } : {}),
      ...(needsClusterIp(typed) ? { internalTrafficPolicy: 'Cluster' } : {}),
      ...(isLoadBalancer(typed) ? { allocateLoadBalancerNodePorts: true } : {}),
    },
  );
  const changed = filled === service.spec ? service : { ...service, spec: filled };
  if (!isLoadBalancer(typed)) return changed;
  return changePart(changed, 'status', (status) =>
    changePart(status, 'loadBalancer', (balancer) => changePart(balancer, 'ingress', (list) => changeItems(list, defaultIngress))),
  );
}

function withAffinity(spec: ServiceSpec): ServiceSpec {
  if (spec.sessionAffinity === 'ClientIP') {
    const before = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
    return before === undefined ? { ...spec, sessionAffinityConfig: { clientIP: { timeoutSeconds: affinityTimeoutSeconds } } } : spec;
  }
  if (spec.sessionAffinity !== 'None' || spec.sessionAffinityConfig === undefined) return spec;
  const { sessionAffinityConfig: _, ...kept } = spec;
  return kept;
}

function defaultPort(port: ServicePort): ServicePort {
  const filled = fill(port, { protocol: 'TCP' });
  const { targetPort } = filled;
  return targetPort === undefined || targetPort === 0 || targetPort === '' ? { ...filled, targetPort: port.port } : filled;
}

function defaultIngress(ingress: LoadBalancerIngress): LoadBalancerIngress {
  return (ingress.ip ?? '') === '' ? ingress : fill(ingress, { ipMode: 'VIP' });
}
