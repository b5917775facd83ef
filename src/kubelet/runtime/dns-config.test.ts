import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import { dnsConfigOf, parseResolvConf } from './dns-config.ts';

const host = { servers: ['1.1.1.1', '9.9.9.9'], searches: ['lan'], options: ['timeout:1'] };
const defaults = { clusterDomain: 'cluster.local', clusterDns: ['10.96.0.10'], expectsClusterDns: true, host };

test('the file of the host: the last search counts, later options replace earlier ones', () => {
  const text = '# made by hand\nnameserver 1.1.1.1\nnameserver 9.9.9.9\nsearch old\nsearch lan. .\noptions ndots:1 rotate\noptions ndots:3\n';
  assert.deepEqual(parseResolvConf(text), { servers: ['1.1.1.1', '9.9.9.9'], searches: ['lan'], options: ['ndots:3', 'rotate'] });
});

test('Default has what the host has; so has ClusterFirst in the network of the node, and, with a warning, without a cluster DNS', () => {
  const hostsOwn = { servers: host.servers, searches: host.searches, options: host.options };
  assert.deepEqual(dnsConfigOf(aPod({ spec: { dnsPolicy: 'Default' } }), defaults).config, hostsOwn);
  assert.deepEqual(dnsConfigOf(aPod({ spec: { hostNetwork: true } }), defaults).config, hostsOwn);
  assert.deepEqual(dnsConfigOf(aPod(), { ...defaults, clusterDns: [] }), {
    config: hostsOwn,
    warnings: [
      {
        reason: 'MissingClusterDNS',
        message:
          'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
      },
    ],
  });
  assert.deepEqual(dnsConfigOf(aPod(), { ...defaults, clusterDns: [], expectsClusterDns: false }), { config: hostsOwn, warnings: [] });
});

test('ClusterFirstWithHostNet asks the cluster from the network of the node too', () => {
  const { config } = dnsConfigOf(aPod({ spec: { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' } }), defaults);
  assert.deepEqual([config.servers, config.options], [['10.96.0.10'], ['ndots:5']]);
});

test('None has only what the pod brings', () => {
  const dnsConfig = { nameservers: ['8.8.8.8'], searches: ['my'], options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }] };
  const { config } = dnsConfigOf(aPod({ spec: { dnsPolicy: 'None', dnsConfig } }), defaults);
  assert.deepEqual(config, { servers: ['8.8.8.8'], searches: ['my'], options: ['ndots:2', 'edns0'] });
});

test('the pod’s own entries are added, its options win, what is too much is cut and told', () => {
  const dnsConfig = { nameservers: ['2.2.2.2', '3.3.3.3', '4.4.4.4'], options: [{ name: 'ndots', value: '1' }] };
  const { config, warnings } = dnsConfigOf(aPod({ spec: { dnsConfig } }), defaults);
  assert.deepEqual([config.servers, config.options], [['10.96.0.10', '2.2.2.2', '3.3.3.3'], ['ndots:1']]);
  const message = 'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10.96.0.10 2.2.2.2 3.3.3.3';
  assert.deepEqual(warnings, [{ reason: 'DNSConfigForming', message }]);
});

test('a search list longer than resolvers take is cut from its end', () => {
  const searches = Array.from({ length: 40 }, (_, index) => `d${index}`);
  const { config, warnings } = dnsConfigOf(aPod({ spec: { dnsPolicy: 'None', dnsConfig: { searches } } }), defaults);
  assert.deepEqual([config.searches.length, config.searches[31], warnings.length], [32, 'd31', 1]);
});
