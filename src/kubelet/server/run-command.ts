import type { Pod } from '#api/types/core-v1.ts';
import { messageOf } from '#base/errors.ts';
import type { HttpResponse } from '#wire/http/server.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { Refusal } from './answer.ts';
import type { ContainerTarget } from './kubelet-route.ts';
import { runningContainer } from './streams.ts';

type CommandRuntime = Pick<RuntimePort, 'listContainers' | 'execSync'>;

/** `POST /run/...`: the command's output, both streams one after the other. */
export async function runCommand(
  runtime: CommandRuntime,
  pod: Pod | undefined,
  target: ContainerTarget,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<HttpResponse> {
  if (pod === undefined) throw new Refusal(404, 'pod does not exist');
  const { id } = await runningContainer(runtime, pod, target, `container not found ("${target.container}")`, signal);
  const command = (query.get('cmd') ?? '').split(' ');
  const { stdout, stderr, exitCode } = await runtime.execSync(id, command, 0, signal).catch((error: unknown) => {
    throw new Refusal(500, messageOf(error));
  });
  if (exitCode !== 0) throw new Refusal(500, `command '${command.join(' ')}' exited with ${exitCode}: ${Buffer.from(stderr).toString()}`);
  return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.concat([stdout, stderr]) };
}
