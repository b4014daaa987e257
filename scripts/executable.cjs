'use strict';
// The main script of the single executable: the command's source with what V8 compiled of it at packaging time. Should the cache
// not fit this V8, it is passed over and the source compiled as usual.
const sea = require('node:sea');
const { Script } = require('node:vm');

const script = new Script(sea.getAsset('coffer.cjs', 'utf8'), {
  filename: 'coffer.cjs',
  cachedData: Buffer.from(sea.getRawAsset('code-cache')),
});
script.runInThisContext()(require, { exports: {} });
