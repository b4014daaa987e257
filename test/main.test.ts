import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** A network of which nothing ever comes, and that keeps no process alive. */
const NOTHING_COMES = `
  const { EventEmitter } = require('node:events');
  require('node:http').request = () => Object.assign(new EventEmitter(), { end() {}, destroy() {} });
  require('node:module').syncBuiltinESMExports();
`;

it('the command does not end with success when Node ends it before there is an answer', () => {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-main-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const preload = join(directory, 'preload.cjs');
  writeFileSync(preload, NOTHING_COMES);
  const verify = ['transit', 'verify', 'orders', 'hello', '--signature', 'service:v1:AAAA'];
  const { status, stdout } = spawnSync(process.execPath, ['--require', preload, main, ...verify], {
    env: { COFFER_ADDR: 'http://127.0.0.1:1', COFFER_TOKEN: 'none', HOME: directory },
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
});

it('the command is a plugin of age under its name, and by what age says where no link has that name', () => {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-main-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const plugin = join(directory, 'age-plugin-coffer');
  symlinkSync(main, plugin);
  const started = (words: readonly string[], argv0 = process.execPath) =>
    spawnSync(process.execPath, words, { env: { HOME: directory }, encoding: 'utf8', argv0 }).stderr;
  expect(started([main, '--age-plugin=nothing-v1'])).toContain('is run by age');
  expect(started([plugin])).toContain('is run by age');
  expect(started([main], 'age-plugin-coffer')).toContain('is run by age');
});
