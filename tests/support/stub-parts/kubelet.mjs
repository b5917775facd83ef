// Stands in for the kubelet where a test is about the host side of a cluster: lives, and does nothing.
process.stdout.write('{"ready":true}\n');
setInterval(() => undefined, 3_600_000);
