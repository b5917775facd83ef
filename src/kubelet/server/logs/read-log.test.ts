import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { LogFile, LogFilesPort } from '../../ports/log-files.ts';
import { type LogOptions, parseLogOptions } from './log-options.ts';
import { UnsupportedLogFormat } from './log-text.ts';
import { readLog, startOfTail } from './read-log.ts';

const path = '/logs/0.log';
const never = new AbortController().signal;

/** Files by name; each file is an object, so that a name may get another one. */
class FakeLogs implements LogFilesPort {
  #current: { text: string };
  readonly #listeners = new Set<(what: 'written' | 'replaced') => void>();
  readonly #identities = new Map<object, string>();
  openFiles = 0;

  constructor(text: string) {
    this.#current = { text };
  }

  get watchers(): number {
    return this.#listeners.size;
  }

  write(text: string): void {
    this.#current.text += text;
    for (const listener of this.#listeners) listener('written');
  }

  /** @returns the file that had the name */
  rotate(text: string, lastWords = ''): { write(text: string): void } {
    const old = this.#current;
    old.text += lastWords;
    this.replaceSilently(text);
    for (const listener of this.#listeners) listener('replaced');
    return {
      write(more) {
        old.text += more;
      },
    };
  }

  replaceSilently(text: string): void {
    this.#current = { text };
  }

  async open(): Promise<LogFile> {
    const file = this.#current;
    const identity = this.#identities.get(file) ?? `file ${this.#identities.size}`;
    this.#identities.set(file, identity);
    this.openFiles += 1;
    return {
      identity,
      sizeBytes: async () => file.text.length,
      read: async (offset, max) => Buffer.from(file.text).subarray(offset, offset + max),
      close: async () => {
        this.openFiles -= 1;
      },
    };
  }

  watch(_path: string, listener: (what: 'written' | 'replaced') => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

class FakeLife {
  running = true;
  asked = 0;
  readonly #listeners = new Set<() => void>();

  async isRunning(): Promise<boolean> {
    this.asked += 1;
    return this.running;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  end(): void {
    this.running = false;
    for (const listener of this.#listeners) listener();
  }
}

function options(query: string): LogOptions {
  const parsed = parseLogOptions(new URLSearchParams(query), Date.parse('2026-12-02T03:00:10Z'));
  assert.ok(parsed.ok, query);
  return parsed.options;
}

const line = (second: number, content: string, tag = 'F'): string => `2026-12-02T03:00:0${second}.5Z stdout ${tag} ${content}\n`;

async function read(text: string, query: string): Promise<string> {
  const logs = new FakeLogs(text);
  let out = '';
  for await (const chunk of readLog(await logs.open(), path, logs, options(query), new FakeLife(), new FakeClock(), never)) out += Buffer.from(chunk);
  assert.equal(logs.openFiles, 0, 'the file is closed');
  return out;
}

const three = `${line(1, 'one')}${line(2, 'two')}${line(3, 'three')}`;

const cases: readonly (readonly [string, string, string, string])[] = [
  ['all lines are read without options', three, '', 'one\ntwo\nthree\n'],
  ['tail takes the last lines', three, 'tailLines=2', 'two\nthree\n'],
  ['tail of more than there is takes all', three, 'tailLines=9', 'one\ntwo\nthree\n'],
  ['tail of none takes none', three, 'tailLines=0', ''],
  ['tail counts a last line that is not complete', `${three}2026-12-02T03:00:04Z stdout F fo`, 'tailLines=2', 'three\nfo\n'],
  ['tail counts lines of the file, partial ones too', `${line(1, 'a')}${line(2, 'b', 'P')}${line(3, 'c')}`, 'tailLines=1', 'c\n'],
  ['since leaves out what is older', three, 'sinceTime=2026-12-02T03:00:02Z', 'two\nthree\n'],
  ['since seconds counts back from now', three, 'sinceSeconds=8', 'two\nthree\n'],
  ['since applies after tail', three, 'tailLines=2&sinceTime=2026-12-02T03:00:03Z', 'three\n'],
  ['timestamps stand before each line, with nine digits', line(1, 'one'), 'timestamps=true', '2026-12-02T03:00:01.500000000Z one\n'],
  [
    'pieces are joined, with one timestamp',
    `${line(1, 'a', 'P')}${line(2, 'b', 'P')}${line(3, 'c')}`,
    'timestamps=true',
    '2026-12-02T03:00:01.500000000Z abc\n',
  ],
  ['a limit cuts in the middle of a line', three, 'limitBytes=6', 'one\ntw'],
  ['a line that is not in the format is left out', `${line(1, 'one')}garbage\n${line(3, 'three')}`, '', 'one\nthree\n'],
  ['an empty file is an empty log', '', '', ''],
];
for (const [what, text, query, wanted] of cases) {
  test(what, async () => assert.equal(await read(text, query), wanted));
}

test('a file whose first line is not in the format is refused', async () => {
  await assert.rejects(
    read('garbage\n', ''),
    (error: unknown) => error instanceof UnsupportedLogFormat && error.message === 'unsupported log format: "garbage"',
  );
});

test('tail finds the same lines as counting from the front', async () => {
  const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'b') }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(lines, fc.boolean(), fc.nat(35), async (parts, complete, tail) => {
      const text = parts.map((part) => `${part}x\n`).join('') + (complete ? '' : 'last');
      const all = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
      const start = await startOfTail(await new FakeLogs(text).open(), tail);
      assert.equal(text.slice(start), tail === 0 ? '' : all.slice(-tail).join(''));
    }),
  );
});

interface Following {
  readonly logs: FakeLogs;
  readonly life: FakeLife;
  readonly clock: FakeClock;
  readonly abort: AbortController;
  next(): Promise<string | undefined>;
}

async function follow(text: string, query = 'follow=true'): Promise<Following> {
  const logs = new FakeLogs(text);
  const life = new FakeLife();
  const clock = new FakeClock();
  const abort = new AbortController();
  const chunks = readLog(await logs.open(), path, logs, options(query), life, clock, abort.signal);
  const next = async (): Promise<string | undefined> => {
    const result = await chunks.next();
    return result.done === true ? undefined : Buffer.from(result.value).toString();
  };
  return { logs, life, clock, abort, next };
}

test('a follower gets what is written, at once, and ends when the container has and all is read', async () => {
  const { logs, life, next } = await follow(line(1, 'one'));
  assert.equal(await next(), 'one\n');
  const second = next();
  logs.write(line(2, 'two'));
  assert.equal(await second, 'two\n');
  const third = next();
  life.running = false;
  logs.write(line(3, 'last words'));
  assert.equal(await third, 'last words\n');
  const end = next();
  life.end();
  assert.equal(await end, undefined);
  assert.deepEqual([logs.openFiles, logs.watchers], [0, 0]);
});

test('a line that is written in two halves comes out once, whole', async () => {
  const { logs, next } = await follow('');
  const first = next();
  logs.write('2026-12-02T03:00:01Z stdout F he');
  logs.write('llo\n');
  assert.equal(await first, 'hello\n');
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a follower goes on in the new file after a rotation, and misses nothing of the old one', async () => {
  const { logs, life, clock, next } = await follow(line(1, 'one'));
  assert.equal(await next(), 'one\n');
  const second = next();
  await turn();
  const old = logs.rotate(line(4, 'four'), line(2, 'two'));
  assert.equal(await second, 'two\n');
  const third = next();
  await turn();
  old.write(line(3, 'three')); // the runtime had taken it before it opened the new file
  await clock.advance(100);
  assert.equal(await third, 'three\n');
  const fourth = next();
  await turn();
  await clock.advance(100);
  assert.equal(await fourth, 'four\n');
  const end = next();
  life.end();
  assert.equal(await end, undefined);
  assert.equal(logs.openFiles, 0);
});

test('a reader that is slow misses no rotation meanwhile, and a line that was cut stays in its file', async () => {
  const { logs, life, clock, next } = await follow(line(1, 'one'));
  assert.equal(await next(), 'one\n');
  await turn();
  logs.rotate(line(2, 'two'));
  await turn();
  logs.rotate(line(3, 'three'), '2026-12-02T03:00:02Z stdout F cu');
  await turn();
  life.end();
  const rest: string[] = [];
  const reading = (async () => {
    for (let chunk = await next(); chunk !== undefined; chunk = await next()) rest.push(chunk);
  })();
  for (let step = 0; step < 10; step += 1) {
    await turn();
    await clock.advance(100);
  }
  await reading;
  assert.deepEqual(rest, ['two\n', 'cu\n', 'three\n']);
  assert.deepEqual([logs.openFiles, logs.watchers], [0, 0]);
});

test('a rotation just before the end is seen although nobody told of it', async () => {
  const { logs, life, clock, next } = await follow(line(1, 'one'));
  assert.equal(await next(), 'one\n');
  const second = next();
  await turn();
  logs.replaceSilently(line(2, 'two'));
  life.end();
  await turn();
  await clock.advance(100);
  assert.equal(await second, 'two\n');
  assert.equal(await next(), undefined);
});

test('the end of a container that nobody told of is seen at the next look', async () => {
  const { life, clock, next } = await follow(line(1, 'one'));
  await next();
  const end = next();
  await new Promise((resolve) => setImmediate(resolve));
  life.running = false;
  await clock.advance(1_000);
  assert.equal(await end, undefined);
});

test('a busy log does not ask the runtime for every line', async () => {
  const { logs, life, next } = await follow('');
  for (let count = 0; count < 50; count += 1) {
    const out = next();
    await new Promise((resolve) => setImmediate(resolve));
    logs.write(line(1, `${count}`));
    await out;
  }
  assert.ok(life.asked <= 1, `asked ${life.asked} times`);
});

test('a follower that goes away leaves nothing behind', async () => {
  const { logs, abort, next } = await follow('');
  const end = next();
  await new Promise((resolve) => setImmediate(resolve));
  abort.abort();
  assert.equal(await end, undefined);
  assert.deepEqual([logs.openFiles, logs.watchers], [0, 0]);
});

for (const [query, status] of [
  ['tailLines=x', 400],
  ['sinceTime=yesterday', 400],
  ['tailLines=-1', 422],
  ['limitBytes=0', 422],
  ['sinceSeconds=0', 422],
  ['sinceSeconds=1&sinceTime=2026-12-02T03:00:00Z', 422],
] as const) {
  test(`options ${query} are answered with ${status}`, () => {
    const parsed = parseLogOptions(new URLSearchParams(query), 0);
    assert.equal(parsed.ok ? 200 : parsed.status, status);
  });
}
