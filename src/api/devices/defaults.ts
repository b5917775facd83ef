import { changeItems, changePart, fill } from '#api/copy-on-write.ts';
import type { DeviceClaim, DeviceRequest, DeviceSubRequest, DeviceToleration, ResourceClaimSpec } from '#api/types/resource-v1.ts';

/** What a claim of devices asks for when it does not say: one of them. */
export function defaultResourceClaimSpec(spec: ResourceClaimSpec): ResourceClaimSpec {
  return changePart(spec, 'devices', (devices: DeviceClaim) => changePart(devices, 'requests', (requests) => changeItems(requests, defaultRequest)));
}

function defaultRequest(request: DeviceRequest): DeviceRequest {
  const exact = changePart(request, 'exactly', defaultAmount);
  return changePart(exact, 'firstAvailable', (requests) => changeItems(requests, defaultAmount));
}

type Amount = Pick<DeviceSubRequest, 'allocationMode' | 'count' | 'tolerations'>;

function defaultAmount<T extends Amount>(request: T): T {
  const withMode = fill<Amount>(request, { allocationMode: 'ExactCount' });
  const isCounted = withMode.allocationMode === 'ExactCount' && (withMode.count ?? 0) === 0;
  const counted = isCounted ? { ...withMode, count: 1 } : withMode;
  return changePart(counted, 'tolerations', (tolerations) => changeItems(tolerations, defaultToleration)) as T; // its own fields stay
}

function defaultToleration(toleration: DeviceToleration): DeviceToleration {
  return fill(toleration, { operator: 'Equal' });
}
