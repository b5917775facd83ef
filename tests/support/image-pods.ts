import { type Kubectl, outputOf } from './kubectl.ts';
import { getPod } from './pods.ts';

/** A pod of one container that sleeps. */
export function podOf(
  name: string,
  image: string,
  { spec = {}, container = {} }: { readonly spec?: object; readonly container?: object } = {},
): object {
  const containers = [{ name: 'main', image, ...container }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { terminationGracePeriodSeconds: 0, containers, ...spec } };
}

/** Waits until the first container backs off. @returns what it says */
export async function backsOff(of: Kubectl, name: string): Promise<string> {
  outputOf(await of(['wait', `pod/${name}`, '--for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff', '--timeout=30s']));
  return (await getPod(of, name)).status?.containerStatuses?.[0]?.state?.waiting?.message ?? '';
}
