import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StanzaLines } from '../../../src/doors/agent/age/conversation.ts';
import {
  parsePluginIdentity,
  parsePluginRecipient,
  pluginIdentity,
  pluginRecipient,
} from '../../../src/doors/agent/age/names.ts';
import { printStanza } from '../../../src/transit/envelope/age/header.ts';

const word = fc.stringMatching(/^[\x21-\x7e]{1,40}$/);

describe('stanzas that age and its plugins exchange', () => {
  it('are read as they were written', () => {
    const stanza = fc.record({
      type: word,
      args: fc.array(word, { maxLength: 5 }),
      body: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    });
    fc.assert(
      fc.property(fc.array(stanza), (sent) => {
        const lines = new StanzaLines();
        const text = sent.map(printStanza).join('');
        const found = text
          .split('\n')
          .slice(0, -1)
          .flatMap((line) => lines.add(line) ?? []);
        expect(found).toEqual(sent);
      }),
    );
  });

  it('begin as they must, and end', () => {
    expect(() => new StanzaLines().add('done')).toThrow('begins otherwise');
    expect(() => new StanzaLines().add('-> a\u0000b')).toThrow('begins otherwise');
    const lines = new StanzaLines();
    lines.add('-> msg');
    expect(() => lines.add('A'.repeat(65))).toThrow('too long');
    expect(() => {
      for (let count = 0; count < 1000; count++) lines.add('A'.repeat(64));
    }).toThrow('too long');
  });
});

describe('the names of keys in files of age', () => {
  it('are read as they were written, and are of the form that age wants', () => {
    const name = fc.record({
      mount: fc.stringMatching(/^[a-z]{1,20}(?:\/[a-z]{1,20})?$/),
      key: fc.stringMatching(/^\w{1,40}$/),
    });
    fc.assert(
      fc.property(name, (key) => {
        expect(parsePluginRecipient(pluginRecipient(key))).toEqual(key);
        expect(parsePluginIdentity(pluginIdentity(key))).toEqual(key);
        expect(pluginRecipient(key)).toMatch(/^age1coffer1[a-z0-9]+$/);
        expect(pluginIdentity(key)).toMatch(/^AGE-PLUGIN-COFFER-1[A-Z0-9]+$/);
      }),
    );
  });

  it('may be none for an identity', () => {
    // What "age -j coffer" sends.
    expect(parsePluginIdentity('AGE-PLUGIN-COFFER-1VVM9ZD')).toBeUndefined();
  });

  it.each([
    'age1coffer1',
    'AGE-PLUGIN-OTHER-1',
    pluginIdentity({ mount: 'transit', key: 'k' }),
    `${pluginRecipient({ mount: 'transit', key: 'k' })}q`,
  ])('are refused for a recipient in %j', (text) => {
    expect(() => parsePluginRecipient(text)).toThrow();
  });
});
