import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addressIn,
  formatCidr,
  formatIp,
  type IpAddress,
  isIpv4Mapped,
  maskedRange,
  parseCidr,
  parseIp,
  parseSloppyCidr,
  parseSloppyIp,
  rangeContains,
  sizeOfRange,
} from './ip-address.ts';

const canonical = (text: string) => {
  const address = parseIp(text);
  return address === undefined ? undefined : formatIp(address);
};

test('addresses have one canonical form', () => {
  const table = {
    '10.0.0.1': '10.0.0.1',
    '::': '::',
    '::1': '::1',
    '1::': '1::',
    'FD00:0:0:0:0:0:0:0a': 'fd00::a',
    '2001:db8:0:0:1:0:0:1': '2001:db8::1:0:0:1',
    '2001:db8:0:1:1:1:1:1': '2001:db8:0:1:1:1:1:1',
    '::ffff:10.0.0.1': '10.0.0.1',
    '64:ff9b::10.0.0.1': '64:ff9b::a00:1',
  };
  for (const [text, wanted] of Object.entries(table)) assert.equal(canonical(text), wanted, text);
  for (const text of ['', '010.0.0.1', '1.2.3', 'fe80::1%eth0', 'None', ':::']) assert.equal(canonical(text), undefined, text);
});

test('what is printed is read back as the same address', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), (value) => {
      const address: IpAddress = value >> 32n === 0xffffn ? { family: 'IPv4', value: value & 0xffff_ffffn } : { family: 'IPv6', value };
      assert.deepEqual(parseIp(formatIp(address)), address);
    }),
  );
});

test('leading zeros are read where they are of old', () => {
  assert.equal(formatIp(parseSloppyIp('010.000.001.100') ?? assert.fail()), '10.0.1.100');
  assert.equal(formatCidr(parseSloppyCidr('010.0.0.0/08') ?? assert.fail()), '10.0.0.0/8');
  assert.equal(parseCidr('10.0.0.0/08'), undefined);
});

test('a range knows its size and its addresses', () => {
  const range = parseCidr('10.1.2.3/24') ?? assert.fail();
  assert.equal(formatCidr(maskedRange(range)), '10.1.2.0/24');
  assert.equal(sizeOfRange(range), 256n);
  assert.equal(formatIp(addressIn(range, 1n)), '10.1.2.1');
  for (const [text, isInside] of Object.entries({ '10.1.2.0': true, '10.1.2.255': true, '10.1.3.0': false, '::1': false })) {
    assert.equal(rangeContains(range, parseIp(text) ?? assert.fail()), isInside, text);
  }
  for (const text of ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/', '/8', 'fd00::/129', 'a/8']) assert.equal(parseCidr(text), undefined, text);
  assert.ok(isIpv4Mapped('::ffff:1.2.3.4') && !isIpv4Mapped('1.2.3.4') && !isIpv4Mapped('::1'));
});
