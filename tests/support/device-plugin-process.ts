import { watch } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Channel } from '#base/channel.ts';
import { systemClock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import {
  ContainerAllocateResponse,
  DevicePluginDefinition,
  DevicePluginOptions,
  type ListAndWatchResponse,
  PreStartContainerResponse,
  RegisterRequest,
  RegistrationDefinition,
} from '#wire/generated/device-plugin.ts';
import { RegistrationDefinition as FoundDefinition, PluginInfo, RegistrationStatusResponse } from '#wire/generated/plugin-registration.ts';
import { openChannel } from '#wire/grpc/channel.ts';
import { serveGrpc } from '#wire/grpc/serve.ts';
import type { PluginOrder, TestDevice } from './device-plugin.ts';

// The process of `startDevicePlugin`: gives each container an environment variable, a folder, and /dev/null under another name.

const order = JSON.parse(process.argv[2] ?? '{}') as PluginOrder;
const { directory, resource, registry } = order;
const endpoint = `${resource.replace(/\W/g, '-')}.sock`;
const say = (line: string) => void process.stdout.write(`${line}\n`);
const options = DevicePluginOptions.fromPartial({ preStartRequired: order.preStart === true, getPreferredAllocationAvailable: true });
const forever = new AbortController().signal;
let devices = order.devices;
const followers = new Set<Channel<ListAndWatchResponse>>();

const listOf = (list: readonly TestDevice[]): ListAndWatchResponse => ({
  devices: list.map(({ id, health = 'Healthy' }) => ({ ID: id, health, topology: undefined })),
});

createInterface({ input: process.stdin }).on('line', (line) => {
  devices = JSON.parse(line) as readonly TestDevice[];
  for (const follower of followers) follower.push(listOf(devices));
});

async function serve(): Promise<void> {
  await rm(`${directory}/${endpoint}`, { force: true });
  await serveGrpc(`${directory}/${endpoint}`, DevicePluginDefinition, {
    getDevicePluginOptions: async () => options,
    async *listAndWatch(_request, signal) {
      const follower = new Channel<ListAndWatchResponse>();
      followers.add(follower);
      follower.push(listOf(devices));
      try {
        yield* follower.take(signal);
      } finally {
        followers.delete(follower);
      }
    },
    // The last of what is offered: not what the kubelet would choose.
    getPreferredAllocation: async ({ containerRequests }) => ({
      containerResponses: containerRequests.map(({ availableDeviceIDs, allocationSize }) => ({
        deviceIDs: availableDeviceIDs.slice(-allocationSize),
      })),
    }),
    async allocate({ containerRequests }) {
      return {
        containerResponses: containerRequests.map(({ devicesIds }) => {
          say(`allocate ${devicesIds.join(' ')}`);
          return ContainerAllocateResponse.fromPartial({
            envs: { DEVICES: devicesIds.join(',') },
            annotations: { 'example.com/devices': devicesIds.join(',') },
            mounts: [{ containerPath: '/plugin', hostPath: order.folder, readOnly: true }],
            devices: [{ containerPath: '/dev/given', hostPath: '/dev/null', permissions: 'rw' }],
          });
        }),
      };
    },
    async preStartContainer({ devicesIds }) {
      say(`pre-start ${devicesIds.join(' ')}`);
      return PreStartContainerResponse.fromPartial({});
    },
  });
}

async function comeForward(): Promise<void> {
  const channel = openChannel(`unix://${directory}/kubelet.sock`, systemClock);
  const request = RegisterRequest.fromPartial({ version: 'v1beta1', endpoint, resourceName: resource, options });
  try {
    await channel.call(RegistrationDefinition, 'register', request, { timeoutMs: 5_000 }, forever);
    say('registered');
  } catch (error) {
    say(`refused ${messageOf(error)}`);
  } finally {
    channel.close();
  }
}

await serve();
if (registry !== undefined) {
  await rm(`${registry}/${endpoint}`, { force: true });
  await serveGrpc(`${registry}/${endpoint}`, FoundDefinition, {
    getInfo: async () =>
      PluginInfo.fromPartial({ type: 'DevicePlugin', name: resource, endpoint: `${directory}/${endpoint}`, supportedVersions: ['v1beta1'] }),
    async notifyRegistrationStatus({ pluginRegistered, error }) {
      say(pluginRegistered ? 'registered' : `refused ${error}`);
      return RegistrationStatusResponse.fromPartial({});
    },
  });
} else {
  // The kubelet that has come back removed every socket but its own new one.
  watch(directory, (_change, name) => {
    if (name === 'kubelet.sock') void serve().then(comeForward, (error: unknown) => say(`refused ${messageOf(error)}`));
  });
  await comeForward();
}
