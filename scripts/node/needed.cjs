'use strict';
// Run before a script in TypeScript: an older Node would stop at the first type, and say nothing that helps.
// The Node of a checkout is an optional dependency, because there is none for some machines.
const { engines } = require('../../package.json');

const needed = engines.node.slice(2);
const [major, minor] = needed.split('.').map(Number);
const running = process.versions.node.split('.').map(Number);

if (running[0] < major || (running[0] === major && running[1] < minor)) {
  process.stderr.write(
    `coffer: Node ${needed} or newer is needed to build it, this is ${process.versions.node}, and none came along for ${process.platform} ${process.arch}: ` +
      'install a current Node from https://nodejs.org and repeat the command\n',
  );
  process.exit(1);
}
