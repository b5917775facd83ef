import type { Clock } from '#base/clock.ts';
import { InfoRequest, type PluginInfo, RegistrationDefinition } from '../generated/plugin-registration.ts';
import { openChannel } from '../grpc/channel.ts';
import { asPluginCall } from './plugin-failure.ts';

/** What a plugin that was found by its socket is asked and told. Both throw {PluginFailed}. */
export interface RegistrationConnection {
  info(signal: AbortSignal): Promise<PluginInfo>;
  /** @param problem why it is not registered; '': it is */
  tell(problem: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Upstream's: to reach it and have its answer, and to tell it the outcome. */
const [infoMs, tellMs] = [11_000, 5_000];

export function connectRegistration(socketPath: string, clock: Clock): RegistrationConnection {
  const channel = openChannel(`unix://${socketPath}`, clock);
  return {
    info: (signal) => asPluginCall(channel.call(RegistrationDefinition, 'getInfo', InfoRequest.fromPartial({}), { timeoutMs: infoMs }, signal)),
    async tell(problem, signal) {
      const status = { pluginRegistered: problem === '', error: problem };
      await asPluginCall(channel.call(RegistrationDefinition, 'notifyRegistrationStatus', status, { timeoutMs: tellMs }, signal));
    },
    close: () => channel.close(),
  };
}
