import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cancelled } from '#base/errors.ts';
import { type PluginProgramsPort, ProgramFailed } from '#kubelet/ports/plugin-programs.ts';

export interface ProgramsUnderTest {
  readonly programs: PluginProgramsPort;
  /** Writes its first argument, the variable GREETING and its stdin, joined by `|`. */
  readonly echo: string;
  /** Writes `no credentials here` to its stderr and ends with 3. */
  readonly failing: string;
  /** Never ends. */
  readonly endless: string;
  readonly missing: string;
}

/** What everybody who implements `PluginProgramsPort` must do. */
export function pluginProgramsContract(name: string, open: () => Promise<ProgramsUnderTest>): void {
  const { signal } = new AbortController();

  test(`${name}: a program gets its arguments, environment and stdin, and its stdout is the answer`, async () => {
    const { programs, echo } = await open();
    const answer = await programs.run({ program: echo, args: ['one two'], env: { GREETING: 'hello' }, stdin: '{"a":1}' }, signal);
    assert.equal(answer, 'one two|hello|{"a":1}');
  });

  test(`${name}: a program that ends badly fails with its status and its last words`, async () => {
    const { programs, failing, missing } = await open();
    const run = (program: string) => programs.run({ program, args: [], env: {}, stdin: 'x'.repeat(200_000) }, signal);
    await assert.rejects(run(failing), (error) => error instanceof ProgramFailed && /^exit status 3: no credentials here/.test(error.message));
    await assert.rejects(run(missing), (error) => error instanceof ProgramFailed && /ENOENT/.test(error.message));
  });

  test(`${name}: a program that does not end is given up`, { timeout: 10_000 }, async () => {
    const { programs, endless } = await open();
    const abort = new AbortController();
    const running = programs.run({ program: endless, args: [], env: {}, stdin: '' }, abort.signal);
    setTimeout(() => abort.abort(new Cancelled({ message: 'too late' })), 20);
    await assert.rejects(running, { name: 'Cancelled' });
  });
}
