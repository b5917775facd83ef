import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pipeline, type Step } from './step.ts';

function stepOf<R extends object, W extends object>(
  name: string,
  reads: readonly (keyof R & string)[],
  writes: readonly (keyof W & string)[],
): Step<R, W, never> {
  return { name, title: name, reads, writes, slowAfterMs: 1, reasons: {}, run: async () => ({ kind: 'wait' as never, writes: {} as W }) };
}
const cgroup = stepOf<{ pod: string }, { cgroupPath: string }>('cgroup', ['pod'], ['cgroupPath']);
const volumes = stepOf<{ pod: string }, { mounted: number }>('volumes', ['pod'], ['mounted']);
const sandbox = stepOf<{ cgroupPath: string }, { sandboxId: string }>('sandbox', ['cgroupPath'], ['sandboxId']);
const start = () => Pipeline.startingFrom<{ pod: string }>();

test('a list in which each step finds what it reads compiles and draws itself in order', () => {
  const list = start().andBeside(cgroup, volumes).andThen(sandbox);
  const facts: typeof list.have | undefined = undefined;
  assert.equal(facts, undefined);
  assert.equal(list.picture(), 'cgroup (pod) -> cgroupPath  ||  volumes (pod) -> mounted\n  |\nsandbox (cgroupPath) -> sandboxId');
});

test('the compiler refuses a step whose facts nobody writes before it', () => {
  // @ts-expect-error NobodyWrites<"cgroupPath">
  assert.equal(start().andThen(sandbox).steps.length, 1);
  // @ts-expect-error the fact is there, but is of another type
  assert.equal(Pipeline.startingFrom<{ pod: number }>().andThen(cgroup).steps.length, 1);
});

test('the compiler refuses steps beside each other that depend on or overwrite one another', () => {
  // @ts-expect-error sandbox needs what cgroup writes
  assert.equal(start().andBeside(cgroup, sandbox).steps.length, 2);
  // @ts-expect-error both write cgroupPath
  assert.equal(start().andBeside(cgroup, cgroup).steps.length, 2);
});
