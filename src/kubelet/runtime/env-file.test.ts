import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidInput } from '#base/errors.ts';
import { parseEnvFile } from './env-file.ts';

test('quoted values are taken as they are, over several lines too; comments and empty lines are passed over', () => {
  const text = "# made by init\n\nA='1'\n  B='two words $A \\n'\nC='first\n# second'\nEMPTY=''\nLAST='x'";
  assert.deepEqual(Object.fromEntries(parseEnvFile(text)), { A: '1', B: 'two words $A \\n', C: 'first\n# second', EMPTY: '', LAST: 'x' });
});

test('the last of several of one name counts', () => {
  assert.equal(parseEnvFile("A='1'\nA='2'\n").get('A'), '2');
});

test('what is no quoted assignment refuses the file', () => {
  for (const text of ['A=1', 'A="1"', "A = '1'", "A='1' B='2'", "A='open", "1A='x'", "export A='1'"]) {
    assert.throws(() => parseEnvFile(text), InvalidInput, text);
  }
});
