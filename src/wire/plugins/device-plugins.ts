import type { Clock } from '#base/clock.ts';
import {
  type AllocateResponse,
  type ContainerPreferredAllocationRequest,
  type Device,
  DevicePluginDefinition,
  type DevicePluginOptions,
  Empty,
  type RegisterRequest,
  RegistrationDefinition,
} from '../generated/device-plugin.ts';
import { openChannel } from '../grpc/channel.ts';
import { GrpcFailure } from '../grpc/failure.ts';
import { type GrpcServer, serveGrpc } from '../grpc/serve.ts';
import { asPluginCall, PluginFailed } from './plugin-failure.ts';

/** A connection to one device plugin. Every call throws {PluginFailed}. */
export interface DevicePluginConnection {
  options(signal: AbortSignal): Promise<DevicePluginOptions>;
  /** All its devices, again after each change; ends or throws when the plugin is gone. */
  devices(signal: AbortSignal): AsyncIterable<readonly Device[]>;
  preferred(request: ContainerPreferredAllocationRequest, signal: AbortSignal): Promise<readonly string[]>;
  allocate(deviceIds: readonly string[], signal: AbortSignal): Promise<AllocateResponse>;
  preStart(deviceIds: readonly string[], signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Upstream's for the time before a container; for the others it has none, and a plugin that hangs would hold the pod for ever. */
const [preStartMs, answerMs, allocateMs] = [30_000, 10_000, 120_000];

export function connectDevicePlugin(socketPath: string, clock: Clock): DevicePluginConnection {
  const channel = openChannel(`unix://${socketPath}`, clock);
  const service = DevicePluginDefinition;
  return {
    options: (signal) => asPluginCall(channel.call(service, 'getDevicePluginOptions', Empty.fromPartial({}), { timeoutMs: answerMs }, signal)),
    async *devices(signal) {
      try {
        for await (const { devices } of channel.stream(service, 'listAndWatch', Empty.fromPartial({}), {}, signal)) yield devices;
      } catch (error) {
        throw error instanceof GrpcFailure ? new PluginFailed(error) : error;
      }
    },
    async preferred(request, signal) {
      const call = channel.call(service, 'getPreferredAllocation', { containerRequests: [request] }, { timeoutMs: answerMs }, signal);
      return (await asPluginCall(call)).containerResponses[0]?.deviceIDs ?? [];
    },
    allocate: (deviceIds, signal) =>
      asPluginCall(channel.call(service, 'allocate', { containerRequests: [{ devicesIds: [...deviceIds] }] }, { timeoutMs: allocateMs }, signal)),
    async preStart(deviceIds, signal) {
      await asPluginCall(channel.call(service, 'preStartContainer', { devicesIds: [...deviceIds] }, { timeoutMs: preStartMs }, signal));
    },
    close: () => channel.close(),
  };
}

/** The kubelet's socket at which device plugins come forward. @throws {Unavailable} */
export async function serveDeviceRegistration(
  socketPath: string,
  register: (request: RegisterRequest, signal: AbortSignal) => Promise<void>,
): Promise<GrpcServer> {
  return await serveGrpc(socketPath, RegistrationDefinition, {
    register: async (request, signal) => {
      await register(request, signal);
      return Empty.fromPartial({});
    },
  });
}
