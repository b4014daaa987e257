'use strict';
// The main script of the single executable: the command's source with what V8 compiled of it at packaging time. Should the cache
// not fit this V8, it is passed over and the source compiled as usual.
const sea = require('node:sea');
const { Script } = require('node:vm');

// With these Node prints requests with the tokens in them, or writes down which code ran. It has read them before this script runs,
// so it begins anew without them, as the same process. Windows knows nothing of the kind.
// @see docs/decisions/0114
const DIAGNOSTICS = ['NODE_DEBUG', 'NODE_DEBUG_NATIVE', 'NODE_V8_COVERAGE'];
if (process.platform !== 'win32' && DIAGNOSTICS.some((name) => process.env[name])) {
  for (const name of DIAGNOSTICS) delete process.env[name];
  process.execve(process.execPath, [process.argv0, ...process.argv.slice(2)]);
}

// Written as Latin-1 by scripts/executable-assets.ts: the quickest way to a string.
const source = Buffer.from(sea.getRawAsset('coffer.cjs')).latin1Slice();
const script = new Script(source, {
  filename: 'coffer.cjs',
  cachedData: Buffer.from(sea.getRawAsset('coffer.cjs.cache')),
});
script.runInThisContext()(require, { exports: {} });
