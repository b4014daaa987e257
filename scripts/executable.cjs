'use strict';
// Main script of the single executable: the command's source with the V8 code cache made at packaging time. If the
// cache does not fit this V8, it is ignored and the source is compiled as usual.
const sea = require('node:sea');
const { Script } = require('node:vm');

// On this signal, Node opens a debugger, which a process with keys must not.
// @see docs/decisions/0114
if (process.platform !== 'win32') process.on('SIGUSR1', () => {});

// With these variables, Node logs requests including their tokens, or records which code ran. It has read them before
// this script runs, so the process replaces itself without them. Not supported on Windows.
// @see docs/decisions/0114
// @see docs/decisions/0283
const DIAGNOSTICS = ['NODE_DEBUG', 'NODE_DEBUG_NATIVE', 'NODE_V8_COVERAGE'];
if (process.platform !== 'win32' && DIAGNOSTICS.some((name) => process.env[name])) {
  for (const name of DIAGNOSTICS) delete process.env[name];
  process.execve(process.execPath, [process.argv0, ...process.argv.slice(2)]);
}

// Written as Latin-1 by scripts/executable-assets.ts, the fastest encoding to read as a string.
const source = Buffer.from(sea.getRawAsset('coffer.cjs')).latin1Slice();
// Compiled but unused code costs time as well, so commands that do not open a store have a cache of their own. With one
// of these variables a command opens it, without one it asks the agent.
// @see docs/decisions/0070
const SECRETS = ['MASTER_KEY', 'PASSPHRASE'].flatMap((name) => [name, `${name}_FILE`]);
const opens = [...SECRETS, 'MASTER_KEY_COMMAND', 'SHARES_FILE'].some((name) => process.env[`COFFER_${name}`]);
const OWN = { '--version': 'version', verify: 'storeless' };
const own = `coffer.cjs.${OWN[process.argv[2]] ?? (opens ? '' : 'storeless')}.cache`;
const cache = sea.getAssetKeys().includes(own) ? own : 'coffer.cjs.cache';
const script = new Script(source, {
  filename: 'coffer.cjs',
  cachedData: Buffer.from(sea.getRawAsset(cache)),
});
script.runInThisContext()(require, { exports: {} });
