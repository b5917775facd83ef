// Stands in for the control plane where a test is about the host side of a cluster: serves TLS and one Ready node.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const settings = JSON.parse(readFileSync(process.argv[process.argv.indexOf('--settings') + 1], 'utf8'));
const pki = (name) => readFileSync(`${settings.dataDir}/pki/${name}`);
const node = { metadata: { name: settings.nodeName }, status: { conditions: [{ type: 'Ready', status: 'True' }] } };

createServer({ ca: pki('ca.crt'), cert: pki('apiserver.crt'), key: pki('apiserver.key'), requestCert: true }, (request, response) => {
  const { pathname } = new URL(request.url, 'https://localhost');
  response.setHeader('content-type', 'application/json');
  if (!request.socket.authorized) response.writeHead(401).end('{}');
  else if (pathname === '/readyz') response.end('ok');
  else if (pathname === `/api/v1/nodes/${settings.nodeName}`) response.end(JSON.stringify(node));
  else response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: pathname === '/api/v1/nodes' ? [node] : [] }));
}).listen(settings.apiPort, settings.apiAddress, () => process.stdout.write('{"ready":true}\n'));
