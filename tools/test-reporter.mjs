// A reporter for `node --test-reporter`: failures in full, one closing line with the counts that tools/run-tests.ts adds up.
import { inspect } from 'node:util';

/** What a test threw, without the runner's own wrapping. */
const causeOf = (error) => (error?.code === 'ERR_TEST_FAILURE' && error.cause !== undefined ? error.cause : error);

export default async function* report(events) {
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  const path = [];
  for await (const { type, data } of events) {
    if (type === 'test:start') path.splice(data.nesting, path.length, data.name);
    if (type === 'test:stdout' || type === 'test:stderr') yield data.message;
    if (type === 'test:diagnostic' && data.nesting > 0) yield `  # ${data.message}\n`;
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const isSuite = data.details?.type === 'suite';
    const name = [...path.slice(0, data.nesting), data.name].join(' > ');
    if (type === 'test:fail') {
      const error = causeOf(data.details?.error);
      if (data.details?.error?.failureType !== 'subtestsFailed') yield `not ok: ${name}\n${inspect(error, { depth: 6 }).replace(/^/gm, '    ')}\n`;
    }
    if (isSuite) continue;
    if (data.skip !== undefined || data.todo !== undefined) {
      skipped += 1;
      yield `skipped: ${name}${typeof data.skip === 'string' ? ` (${data.skip})` : ''}\n`;
    } else if (type === 'test:pass') passed += 1;
    else failed += 1;
  }
  yield `## ${JSON.stringify({ passed, failed, skipped })}\n`;
}
