import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { printBech32 } from '../../src/transit/key-types/age/bech32.ts';

/* A plugin of age that keeps to the protocol, or breaks it in every way. */

/** What the plugin does, beside wrapping file keys. */
export type Manner =
  | 'well'
  | 'pin'
  | 'confirm'
  | 'message'
  | 'refuses'
  | 'unknown request'
  | 'post-quantum'
  | 'labels'
  | 'nothing'
  | 'dies'
  | 'dies in the middle'
  | 'reads no more'
  | 'hangs'
  | 'no stanza'
  | 'wrong index'
  | 'short file key'
  | 'two file keys'
  | 'wrong file key'
  | 'one long line'
  | 'a mebibyte of stanzas'
  | 'endless messages';

export const FAKE_RECIPIENT = printBech32('age1fake', Buffer.from('a key'));
export const OTHER_FAKE_RECIPIENT = printBech32('age1fake', Buffer.from('another'));
export const FAKE_IDENTITY = printBech32('age-plugin-fake-', Buffer.from('a key')).toUpperCase();
export const OTHER_FAKE_IDENTITY = printBech32('age-plugin-fake-', Buffer.from('another')).toUpperCase();

/**
 * Makes the plugin `age-plugin-fake` in a directory, for the PATH. How it behaves, it reads from the variable
 * `FAKE_MANNER`. What it was asked and what it was answered goes to the file of `FAKE_LOG`.
 */
export function makeFakePlugin(directory: string): void {
  const path = join(directory, 'age-plugin-fake');
  writeFileSync(path, `#!${process.execPath}\n${SOURCE}`);
  chmodSync(path, 0o755);
}

const SOURCE = String.raw`
const fs = require('node:fs');
const { stdin } = require('node:process');
const manner = process.env.FAKE_MANNER ?? 'well';
const machine = process.argv[2].replace('--age-plugin=', '');
const log = (text) => process.env.FAKE_LOG && fs.appendFileSync(process.env.FAKE_LOG, text + '\n');
log('run ' + machine + ' ' + Object.keys(process.env).filter((name) => /COFFER_(MASTER|IDENTITY|PASS)/.test(name)).join(' '));
if (manner === 'dies') process.exit(3);
const mask = (bytes) => Buffer.from(bytes.map((byte) => byte ^ 0x55));
const unpadded = (bytes) => Buffer.from(bytes).toString('base64').replace(/=+$/, '');
function say(words, body = Buffer.alloc(0)) {
  const text = unpadded(body);
  const lines = [];
  for (let at = 0; at <= text.length; at += 64) lines.push(text.slice(at, at + 64));
  process.stdout.write('-> ' + words + '\n' + lines.join('\n') + '\n');
}
const owner = (key) => (['${OTHER_FAKE_IDENTITY}', '${OTHER_FAKE_RECIPIENT}'].includes(key) ? 'another' : 'one');
let held = '';
const waiting = [];
let lines = [];
stdin.on('data', (part) => {
  held += part;
  lines = lines.concat(held.split('\n').slice(0, -1));
  held = held.slice(held.lastIndexOf('\n') + 1);
  while (waiting.length > 0 && lines.length > 0) waiting.shift()(lines.shift());
});
stdin.on('end', () => process.exit(0));
const line = () => (lines.length > 0 ? Promise.resolve(lines.shift()) : new Promise((resolve) => waiting.push(resolve)));
async function next() {
  const [, type, ...args] = (await line()).split(' ');
  let body = '';
  for (;;) {
    const part = await line();
    body += part;
    if (part.length < 64) return { type, args, body: Buffer.from(body, 'base64') };
  }
}
async function ask(words, body) {
  say(words, Buffer.from(body ?? ''));
  const answer = await next();
  log(words.split(' ')[0] + ' ' + answer.type + ' ' + answer.args.join(' ') + answer.body);
  return answer;
}
(async () => {
  const told = [];
  for (;;) {
    const stanza = await next();
    if (stanza.type === 'done') break;
    told.push(stanza);
  }
  const key = told[0].args[0];
  if (manner === 'hangs') return setInterval(() => undefined, 1000);
  if (manner === 'dies in the middle') { process.stderr.write('no device'); say('msg'); process.exit(1); }
  if (manner === 'reads no more') {
    process.stderr.write('no device');
    fs.closeSync(0);
    say('msg');
    return setInterval(() => undefined, 1000);
  }
  if (manner === 'one long line') { process.stdout.write('-> ' + 'x'.repeat(1024 * 1024)); return; }
  if (manner === 'a mebibyte of stanzas') {
    for (let n = 0; n < 1024 * 16; n++) say('recipient-stanza 0 fake ' + 'y'.repeat(64), Buffer.alloc(16));
    return say('done');
  }
  if (manner === 'endless messages') for (;;) await ask('msg', 'again');
  if (manner === 'message') await ask('msg', 'Touch \u001b[31mthe key');
  if (manner === 'unknown request') await ask('sing a-song');
  if (manner === 'pin') {
    const { type, body } = await ask('request-secret', 'PIN');
    if (type !== 'ok' || String(body) !== '1234') { await ask('error internal', 'wrong PIN'); return say('done'); }
  }
  if (manner === 'confirm') {
    const { args } = await ask('confirm ' + unpadded('Use') + ' ' + unpadded('Leave'), 'Use the key?');
    if (args[0] !== 'yes') { await ask('error internal', 'not confirmed'); return say('done'); }
  }
  if (manner === 'refuses') { await ask('error internal', 'the key is\nlocked'); return say('done'); }
  if (manner === 'nothing') return say('done');
  if (machine === 'recipient-v1') {
    const fileKey = told.find(({ type }) => type === 'wrap-file-key').body;
    if (manner === 'post-quantum') await ask('labels postquantum');
    if (manner === 'labels') await ask('labels mine');
    if (manner !== 'no stanza') await ask('recipient-stanza ' + (manner === 'wrong index' ? 1 : 0) + ' fake ' + owner(key), mask(fileKey));
    return say('done');
  }
  const isOwn = ({ type, args }) => type === 'recipient-stanza' && args[1] === 'fake' && args[2] === owner(key);
  const stanza = told.find(isOwn);
  if (stanza !== undefined) {
    const fileKey = mask(stanza.body);
    const given = manner === 'short file key' ? fileKey.subarray(1) : manner === 'wrong file key' ? mask(fileKey) : fileKey;
    await ask('file-key ' + (manner === 'wrong index' ? 1 : 0), given);
    if (manner === 'two file keys') await ask('file-key 0', fileKey);
  }
  say('done');
})();
`;
