import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod, aContainer as aSpec } from '#api/testing/objects.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import { computeActions } from '../compute-actions.ts';
import type { PodActions, ProbeVerdicts } from '../pod-actions.ts';
import type { ContainerRecord, PodRuntimeState } from '../pod-runtime-state.ts';
import { aContainer } from './observed.ts';

export const noVerdicts: ProbeVerdicts = () => undefined;

/** A pod whose only container is `main`, unless others are given. */
export function podOf(restartPolicy: string, containers: readonly Container[] = [aSpec()], initContainers: readonly Container[] = []): Pod {
  return aPod({ spec: { restartPolicy, containers, initContainers } });
}

export function exited(name: string, exitCode = 0): ContainerRecord {
  return aContainer(name, { phase: 'exited', exitCode });
}

/** A row shows only what differs from "leave everything as it is". */
export interface ActionRow {
  readonly when: string;
  readonly pod: Pod;
  readonly observed: PodRuntimeState;
  readonly verdicts?: ProbeVerdicts;
  readonly want: Partial<Omit<PodActions, 'kill'>> & { readonly kill?: readonly string[] };
}

/** One test a row. */
export function testActions(table: string, rows: readonly ActionRow[]): void {
  for (const { when, pod, observed, verdicts = noVerdicts, want } of rows) {
    test(`${table}: ${when}`, () => {
      const { kill, ...actions } = computeActions(pod, observed, verdicts);
      const asIs = {
        killPod: false,
        createSandbox: false,
        sandboxChanged: false,
        attempt: 0,
        sandboxId: 'sandbox-0',
        startEphemeral: [],
        startInit: [],
        startContainers: [],
        initialised: true,
      };
      assert.deepEqual({ ...actions, kill: kill.map(({ container, message }) => `${container.id}: ${message}`) }, { ...asIs, kill: [], ...want });
    });
  }
}
