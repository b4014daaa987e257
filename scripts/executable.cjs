'use strict';
// The main script of the single executable: the command's source with what V8 compiled of it at packaging time. Should the cache
// not fit this V8, it is passed over and the source compiled as usual.
const sea = require('node:sea');
const { Script } = require('node:vm');

// Written as Latin-1 by scripts/package.ts: the quickest way to a string.
const source = Buffer.from(sea.getRawAsset('coffer.cjs')).latin1Slice();
const script = new Script(source, {
  filename: 'coffer.cjs',
  cachedData: Buffer.from(sea.getRawAsset('coffer.cjs.cache')),
});
script.runInThisContext()(require, { exports: {} });
