import { duplexPair } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Conversation } from '../../../../src/transit/envelope/age/conversation.ts';
import { printStanza } from '../../../../src/transit/envelope/age/header.ts';
import {
  failed,
  type PluginHost,
  type PluginQuestions,
  pluginIdentity,
  pluginOfIdentity,
  pluginOfRecipient,
  pluginRecipient,
} from '../../../../src/transit/envelope/age/plugin.ts';
import { printBech32 } from '../../../../src/transit/key-types/age/bech32.ts';
import { refused } from '../../../refusal.ts';

type Said = readonly [type: string, args?: readonly string[], body?: string];

const fileKey = Buffer.alloc(16, 7);
const BROKEN_OFF = {
  kind: 'unavailable',
  message: 'age-plugin-x exited early or sent an invalid response',
};

/** A plugin that says all of this, and what it was answered. */
function plugin(said: readonly Said[], asked: Partial<PluginQuestions> = {}) {
  const [ours, theirs] = duplexPair();
  for (const [type, args = [], body = ''] of said)
    theirs.write(printStanza({ type, args, body: Buffer.from(body) }));
  theirs.end();
  let heard = '';
  theirs.on('data', (bytes: Buffer) => {
    heard += bytes.toString('latin1');
  });
  const messages: string[] = [];
  const questions: PluginQuestions = {
    message: (text) => messages.push(text),
    confirm: async () => undefined,
    ask: async () => undefined,
    ...asked,
  };
  const host: PluginHost = { run: (_, __, talk) => talk(new Conversation(ours), questions) };
  return { host, messages, answers: () => heard.split('-> done\n\n')[1] ?? '' };
}

const wrap = (...said: readonly Said[]) =>
  pluginRecipient('x', 'age1x1qqqqqq', plugin(said).host).wrapAll(fileKey);
const unwrap = (...said: readonly Said[]) =>
  Promise.resolve(pluginIdentity('x', 'AGE-PLUGIN-X-1QQQQQQ', plugin(said).host).unwrap([]));
const stanza: Said = ['recipient-stanza', ['0', 'piv', 'tag'], 'wrapped'];
const done: Said = ['done'];

describe('a plugin that wraps a file key', () => {
  it.each<[readonly string[], string]>([
    [[], 'classical'],
    [['postquantum'], 'post-quantum'],
    [['b', 'a'], 'labels a b'],
    [['postquantum', 'more'], 'labels more postquantum'],
  ])('with the labels %j gives stanzas of the group %s', async (labels, group) => {
    expect(await wrap(['labels', labels], stanza, done)).toEqual({
      stanzas: [{ type: 'piv', args: ['tag'], body: Buffer.from('wrapped') }],
      group,
    });
  });

  it('gives up to 64 stanzas', async () => {
    const many: readonly Said[] = Array(64).fill(stanza);
    expect((await wrap(...many, done)).stanzas).toHaveLength(64);
    expect(await refused(wrap(...many, stanza, done))).toMatchObject(BROKEN_OFF);
  });

  it.each<[string, readonly Said[]]>([
    ['a stanza of another file', [['recipient-stanza', ['1', 'piv']], done]],
    ['a stanza of no type', [['recipient-stanza', ['0']], done]],
    ['no stanza', [done]],
    ['no end', [stanza]],
  ])('is refused with %s', async (_, said) => {
    expect(await refused(wrap(...said))).toMatchObject(BROKEN_OFF);
  });

  it('fails with the first reason that it gives, whatever else it gives', async () => {
    const failing = wrap(stanza, ['error', ['internal'], 'no\n device'], ['error', [], 'more'], done);
    expect(await refused(failing)).toMatchObject({
      kind: 'unavailable',
      message: 'age-plugin-x failed: no device',
    });
  });
});

describe('a plugin that unwraps a file key', () => {
  const found: Said = ['file-key', ['0'], fileKey.toString('latin1')];

  it('gives one of 16 bytes, or none', async () => {
    expect(await unwrap(found, done)).toEqual(fileKey);
    expect(await unwrap(['error', ['stanza', '0', '0'], 'one of two cards'], found, done)).toEqual(fileKey);
    expect(await unwrap(done)).toBeUndefined();
  });

  it.each<[string, readonly Said[]]>([
    ['one of 15 bytes', [['file-key', ['0'], 'x'.repeat(15)], done]],
    ['one of 17 bytes', [['file-key', ['0'], 'x'.repeat(17)], done]],
    ['one of another file', [['file-key', ['1'], 'x'.repeat(16)], done]],
    ['two', [found, found, done]],
  ])('is refused with %s', async (_, said) => {
    expect(await refused(unwrap(...said))).toMatchObject(BROKEN_OFF);
  });

  it('says up to 1,000 things', async () => {
    const many: readonly Said[] = Array(999).fill(['msg', [], 'touch the key']);
    expect(await unwrap(...many, done)).toBeUndefined();
    expect(await refused(unwrap(...many, ['msg'], done))).toMatchObject(BROKEN_OFF);
  });
});

describe('what a plugin says beside its stanzas', () => {
  it('is shown, and told to be unknown where it is', async () => {
    const { host, answers, messages } = plugin([['novelty'], ['msg', [], 'touch the key'], stanza, done]);
    await pluginRecipient('x', 'age1x1qqqqqq', host).wrapAll(fileKey);
    expect(messages).toEqual(['touch the key']);
    await new Promise(setImmediate);
    expect(answers()).toBe('-> unsupported\n\n-> ok\n\n-> ok\n\n');
  });
});

describe('what a plugin asks', () => {
  const yes = Buffer.from('Yes').toString('base64').replace(/=/g, '');
  const said: readonly Said[] = [
    ['novelty', ['x']],
    ['msg', [], 'touch the key'],
    ['confirm', [yes], 'sure?'],
    ['request-secret', [], 'PIN?'],
    done,
  ];
  const answersOf = async (asked: Partial<PluginQuestions>): Promise<string> => {
    const { host, answers, messages } = plugin(said, asked);
    await pluginIdentity('x', 'AGE-PLUGIN-X-1QQQQQQ', host).unwrap([]);
    expect(messages).toEqual(['touch the key']);
    await new Promise(setImmediate);
    return answers();
  };

  it('is answered where the user can be asked, and told to be unknown where it is', async () => {
    expect(await answersOf({})).toBe('-> unsupported\n\n-> ok\n\n-> fail\n\n-> fail\n\n');
    const pin = Buffer.from('1234').toString('base64').replace(/=/g, '');
    for (const [isYes, word] of [
      [true, 'yes'],
      [false, 'no'],
    ] as const)
      expect(await answersOf({ confirm: async () => isYes, ask: async () => '1234' })).toBe(
        `-> unsupported\n\n-> ok\n\n-> ok ${word}\n\n-> ok\n${pin}\n`,
      );
  });
});

describe('the name of a plugin', () => {
  const bytes = Buffer.alloc(32, 9);
  it.each([
    [printBech32('age1yubikey', bytes), 'yubikey'],
    [printBech32('age1', bytes), undefined],
    [printBech32('age1a/b', bytes), undefined],
    [printBech32('age', bytes), undefined],
    [printBech32('ages', bytes), undefined],
    ['age', undefined],
  ])('shows in its recipients: %s', (text, name) => {
    expect(pluginOfRecipient(text)).toBe(name);
  });

  it.each([
    [printBech32('age-plugin-yubikey-', bytes), 'yubikey'],
    [printBech32('age-plugin-yubikey', bytes), undefined],
    [printBech32('age-plugin--', bytes), undefined],
    [printBech32('age-plugin-', bytes), undefined],
    [printBech32('age-secret-key-', bytes), undefined],
  ])('shows in its identities: %s', (text, name) => {
    expect(pluginOfIdentity(text.toUpperCase())).toBe(name);
  });

  it('stands before what it said when it failed, or that it said nothing', () => {
    const messages = [' no\n\tdevice ', ' \n'].map((why) => failed('x', why).message);
    expect(messages).toEqual(['age-plugin-x failed: no device', 'age-plugin-x failed: no reason given']);
  });
});
