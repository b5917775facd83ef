import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseCronSchedule } from './cron-schedule.ts';

function times(text: string) {
  const schedule = parseCronSchedule(text);
  assert.ok(schedule.kind === 'times');
  const { minutes, hours, daysOfMonth, months, daysOfWeek } = schedule.fields;
  return [minutes, hours, daysOfMonth, months, daysOfWeek].map(({ values, isAny }) => (isAny ? '*' : [...values].join()));
}

test('five fields are read with lists, ranges, steps and names', () => {
  assert.deepEqual(times('*/15 8-10,20 ? Jan,MAR mon-wed'), ['0,15,30,45', '8,9,10,20', '*', '1,3', '1,2,3']);
  assert.deepEqual(times('50/5 1-9/4 * * *'), ['50,55', '1,5,9', '*', '*', '*']);
  assert.deepEqual(times('  0   0 * * 0 '), ['0', '0', '*', '*', '0']);
  assert.deepEqual(times('*/1 +1 * * *'), ['*', '1', '*', '*', '*']);
});

test('a field takes exactly what its ranges say', () => {
  const range = fc.tuple(fc.nat(59), fc.nat(59), fc.integer({ min: 1, max: 70 }));
  const rule = fc.array(range, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(rule, (ranges) => {
      const bounds = ranges.map(([a, b, step]) => ({ first: Math.min(a, b), last: Math.max(a, b), step }));
      const text = bounds.map(({ first, last, step }) => `${first}-${last}/${step}`).join(',');
      const isTaken = (minute: number) => bounds.some(({ first, last, step }) => minute >= first && minute <= last && (minute - first) % step === 0);
      const expected = Array.from({ length: 60 }, (_, minute) => minute).filter(isTaken);
      const schedule = parseCronSchedule(`${text} * * * *`);
      assert.ok(schedule.kind === 'times');
      assert.deepEqual(
        [...schedule.fields.minutes.values].sort((a, b) => a - b),
        expected,
      );
    }),
  );
});

test('macros stand for fields, or for an interval', () => {
  assert.deepEqual(times('@yearly'), ['0', '0', '1', '1', '*']);
  assert.deepEqual(times('@weekly'), ['0', '0', '*', '*', '0']);
  assert.deepEqual(parseCronSchedule('@every 1h30m'), { kind: 'every', seconds: 5400 });
  assert.deepEqual(parseCronSchedule('@every 10ms'), { kind: 'every', seconds: 1 });
});

for (const [text, message] of [
  ['', 'empty spec string'],
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['0 * * * * *', 'expected exactly 5 fields, found 6: [0 * * * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['9-5 * * * *', 'beginning of range (9) beyond end of range (5): 9-5'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['*/2/3 * * * *', 'too many slashes: */2/3'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['-1 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
  ['*/-1 * * * *', 'negative number (-1) not allowed: -1'],
  ['@often', 'unrecognized descriptor: @often'],
  ['@every', 'unrecognized descriptor: @every'],
  ['@every soon', 'failed to parse duration @every soon: time: invalid duration "soon"'],
] as const) {
  test(`the schedule "${text}" is refused`, () => {
    assert.throws(() => parseCronSchedule(text), { message });
  });
}
