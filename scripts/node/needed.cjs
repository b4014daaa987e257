'use strict';
// Runs before a script in TypeScript, since an older Node would fail at the first type with an unhelpful message. The
// Node of a checkout is an optional dependency, because some platforms have none.
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
