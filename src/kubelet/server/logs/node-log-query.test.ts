import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journalArguments, parseNodeLogQuery, queryProblem } from './node-log-query.ts';

function asked(text: string): string {
  const parsed = parseNodeLogQuery(new URLSearchParams(text));
  if (parsed.kind !== 'query') return parsed.kind === 'wrong' ? parsed.problem : 'none';
  return queryProblem(parsed.query) ?? journalArguments(parsed.query, parsed.query.services).slice(3).join(' ');
}

for (const [text, answer] of [
  ['', 'none'],
  ['other=1', 'none'],
  ['query=kubelet', '--unit=kubelet'],
  ['query=kubelet&query=crio&tailLines=10', '--pager-end --lines=10 --unit=kubelet --unit=crio'],
  ['query=kubelet&sinceTime=2026-01-02T03:04:05Z&pattern=Error', '--since=2026-01-02 03:04:05 --unit=kubelet --grep=Error --case-sensitive=false'],
  ['query=kubelet&untilTime=2026-01-02T03:04:05%2B01:00&boot=-1', '--until=2026-01-02 02:04:05 --unit=kubelet --boot -1'],
  ['query=', 'query: Invalid value: [""]: query cannot be empty'],
  ['query=%20%20', 'query: Invalid value: ["  "]: query cannot be empty'],
  ['tailLines=3', 'query: Required value: cannot be empty with options'],
  ['query=a&sinceTime=yesterday', 'sinceTime: Invalid value: "yesterday": invalid time format'],
  [
    'query=a&boot=x&tailLines=y',
    '[boot: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax, tailLines: Invalid value: "y": strconv.Atoi: parsing "y": invalid syntax]',
  ],
  ['query=a;b', 'query: Invalid value: "a;b": input contains unsupported characters'],
  ['query=a&query=b&query=c&query=d&query=e', 'query: Too many: 5: must have at most 4 items'],
  ['query=/a.log&query=b', 'query: Invalid value: "[/a.log], [b]": cannot specify a file and service'],
  ['query=/a.log&query=/b.log', 'query: Invalid value: ["/a.log","/b.log"]: cannot specify more than one file'],
  ['query=/a.log&boot=0', 'query: Invalid value: ["/a.log"]: cannot specify file with options'],
  ['query=a&boot=1', 'boot: Invalid value: 1: must be less than 1'],
  ['query=a&tailLines=100001', 'tailLines: Invalid value: 100001: must be between 0 and 100000, inclusive'],
  [
    'query=a&sinceTime=2026-01-02T00:00:00Z&untilTime=2026-01-01T00:00:00Z',
    'untilTime: Invalid value: "2026-01-01T00:00:00.000Z": must be after `sinceTime`',
  ],
  ['query=a&pattern=(', 'pattern: Invalid value: "(": error parsing regexp'],
] as const) {
  test(`logs?${text}: ${answer}`, () => assert.equal(asked(text), answer));
}
