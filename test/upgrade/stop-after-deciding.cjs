'use strict';
// Loaded into a command of an earlier release: it is killed when it has decided on a commit of several changes and applied none.
const fs = require('node:fs');

for (const [functions, name] of [
  [fs, 'renameSync'],
  [fs, 'rename'],
  [fs.promises, 'rename'],
]) {
  const usual = functions[name];
  functions[name] = function (from, to, ...rest) {
    if (!String(from).endsWith('commit.new')) return usual.call(this, from, to, ...rest);
    fs.renameSync.usual(from, to);
    process.kill(process.pid, 'SIGKILL');
  };
  functions[name].usual = usual;
}
