'use strict';
// The main script of the single executable: the command's source with what V8 compiled of it at packaging time. Should the cache
// not fit this V8, it is passed over and the source compiled as usual.
const sea = require('node:sea');
const { Script } = require('node:vm');

// To Node this signal means: open a debugger. A process with keys in it must not.
// @see docs/decisions/0114
if (process.platform !== 'win32') process.on('SIGUSR1', () => {});

// With these Node prints requests with the tokens in them, or writes down which code ran. It has read them before this script runs,
// so it begins anew without them, as the same process. Windows knows nothing of the kind.
// @see docs/decisions/0114
// @see docs/decisions/0283
const DIAGNOSTICS = ['NODE_DEBUG', 'NODE_DEBUG_NATIVE', 'NODE_V8_COVERAGE'];
if (process.platform !== 'win32' && DIAGNOSTICS.some((name) => process.env[name])) {
  for (const name of DIAGNOSTICS) delete process.env[name];
  process.execve(process.execPath, [process.argv0, ...process.argv.slice(2)]);
}

// Written as Latin-1 by scripts/executable-assets.ts: the quickest way to a string.
const source = Buffer.from(sea.getRawAsset('coffer.cjs')).latin1Slice();
// What is compiled and not used costs, too, so some commands have a cache of their own.
// @see docs/decisions/0070
const OWN = { exec: 'secrets', secrets: 'secrets', verify: 'verify' };
const own = `coffer.cjs.${OWN[process.argv[2]]}.cache`;
const cache = sea.getAssetKeys().includes(own) ? own : 'coffer.cjs.cache';
const script = new Script(source, {
  filename: 'coffer.cjs',
  cachedData: Buffer.from(sea.getRawAsset(cache)),
});
script.runInThisContext()(require, { exports: {} });
