import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pluginHost } from '../../src/cli/secrets/plugins.ts';
import type { Session } from '../../src/cli/session.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { decryptBytes, encryptBytes } from '../../src/transit/envelope/age/in-memory.ts';
import { pluginIdentity, pluginRecipient } from '../../src/transit/envelope/age/plugin.ts';
import { printBech32 } from '../../src/transit/key-types/age/bech32.ts';
import {
  FAKE_IDENTITY,
  FAKE_RECIPIENT,
  type Manner,
  makeFakePlugin,
  OTHER_FAKE_IDENTITY,
} from '../plugins/fake-plugin.ts';
import { emptyPlace, type Place, removePlace } from './harness.ts';

let place: Place;
const PATH = () => [place.file('bin'), process.env['PATH']].join(':');
beforeAll(() => {
  const empty = emptyPlace();
  mkdirSync(empty.file('bin'));
  makeFakePlugin(empty.file('bin'));
  place = empty.with({ PATH: [empty.file('bin'), process.env['PATH']].join(':') });
  writeFileSync(place.file('fake.txt'), `# made by age-plugin-fake\n${FAKE_IDENTITY}\n`, { mode: 0o600 });
  writeFileSync(place.file('report'), 'a report');
});
afterAll(() => removePlace(place));

describe('a plugin of age', () => {
  it('opens a store that has a slot for its recipient, and gets no secret of Coffer', async () => {
    const store = { COFFER_STORE: place.file('slots'), FAKE_LOG: place.file('log') };
    await place.with(store).ok(['init', '-q', '--recipient', FAKE_RECIPIENT]);
    const opened = place.with({ ...store, COFFER_IDENTITY: FAKE_IDENTITY, COFFER_PASSPHRASE: 'x' });
    await opened.ok('transit keys create -q orders');
    expect(await opened.ok('slots list')).toContain(FAKE_RECIPIENT);
    expect(readFileSync(place.file('log'), 'utf8')).toMatch(/^run recipient-v1 $/m);
    expect(readFileSync(place.file('log'), 'utf8')).toMatch(/^run identity-v1 $/m);
    const other = opened.with({ COFFER_IDENTITY: OTHER_FAKE_IDENTITY });
    expect(await other.refused('slots list', 4)).toContain('cannot be unlocked with COFFER_IDENTITY');
  });

  it('encrypts with its identity where it can, whose text is not shown', async () => {
    const store = { COFFER_STORE: place.file('by-identity'), COFFER_IDENTITY: FAKE_IDENTITY };
    await place.with(store).ok(['init', '-q', '--recipient', FAKE_IDENTITY]);
    const shown = await place.with(store).ok('slots list');
    expect(shown).toContain('recipient (age-plugin-fake)');
    expect(shown).not.toContain(FAKE_IDENTITY);
  });

  it('writes and opens envelopes, beside other recipients', async () => {
    const line = [
      'transit',
      'envelope',
      'encrypt',
      '--recipient',
      FAKE_RECIPIENT,
      '--in',
      'report',
      '--out',
      'sealed',
      '--force',
    ];
    await place.ok(line);
    expect(await place.ok('transit envelope decrypt --identity fake.txt --in sealed')).toBe('a report');
  });

  it('is not run for a slot that has a key of a store, which a store may have to open first', async () => {
    const recipient = printBech32('age1coffer', Buffer.from('transit/inbox'));
    expect(
      await place.refused(['init', '--store', place.file('within'), '--recipient', recipient], 2),
    ).toContain('a key that is in a store cannot unlock a store');
  });

  it.each([
    [
      'that is not there',
      printBech32('age1missing', Buffer.from('x')),
      'age-plugin-missing is not installed',
    ],
    ['with a path for a name', printBech32('age1../x', Buffer.from('x')), 'unknown age key type'],
  ])('%s is refused by name', async (_, recipient, part) => {
    const { exitCode, stderr } = await place.run([
      'init',
      '--store',
      place.file('none'),
      '--recipient',
      recipient,
    ]);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(part);
    expect(existsSync(place.file('none'))).toBe(false);
  });

  it('is not run from the working directory, nor from a directory that is relative to it', async () => {
    const line = ['init', '--store', place.file('relative'), '--recipient', FAKE_RECIPIENT];
    for (const path of ['bin', '.', '']) {
      expect((await place.with({ PATH: path }).run(line)).stderr).toContain('is not installed');
    }
  });
});

/** Wraps and unwraps a secret with the plugin. @returns the outcome of the second */
async function outcome(
  manner: Manner,
  {
    wrapping = 'well' as Manner,
    answers = {} as Partial<Session['prompts']>,
    env = {} as Record<string, string>,
    silenceMs = 20_000,
  } = {},
): Promise<{ said: string[]; result: string }> {
  const said: string[] = [];
  const session = (how: Manner) =>
    ({
      environment: { PATH: PATH(), FAKE_MANNER: how, ...env },
      settings: { mayAsk: true },
      prompts: { available: () => Object.keys(answers).length > 0, ...answers },
      say: (text: string) => said.push(text),
    }) as unknown as Session;
  const host = (how: Manner) => pluginHost(session(how), silenceMs);
  try {
    const recipients = [pluginRecipient('fake', FAKE_RECIPIENT, host(wrapping))];
    const file = await encryptBytes(Buffer.from('secret'), {
      recipients,
      armor: false,
      random: systemRandom,
    });
    const opened = await decryptBytes(file, [pluginIdentity('fake', FAKE_IDENTITY, host(manner))]);
    return { said, result: opened.toString() };
  } catch (error) {
    return { said, result: (error as Error).message };
  }
}

const INVALID = 'age-plugin-fake exited early or sent an invalid response';

describe('what a plugin asks', () => {
  it('is asked on the terminal, by name, and answered', async () => {
    const asked: string[] = [];
    const answers = {
      secret: async (question: string) => {
        asked.push(question);
        return '1234';
      },
      confirm: async (question: string) => {
        asked.push(question);
        return true;
      },
    };
    for (const manner of ['pin', 'confirm', 'message', 'unknown request'] as const) {
      expect(await outcome(manner, { answers })).toMatchObject({ result: 'secret' });
    }
    expect(asked).toEqual(['fake: PIN', 'fake: Use the key? [Use (y) or Leave (n)]']);
    expect((await outcome('message', { answers })).said).toEqual(['fake: Touch \u001b[31mthe key']);
  });

  it('is asked by the askpass program where there is no terminal', async () => {
    const program = join(place.file('bin'), 'askpass');
    writeFileSync(program, '#!/bin/sh\n[ "$SSH_ASKPASS_PROMPT" = confirm ] || echo 1234\n', { mode: 0o755 });
    for (const manner of ['pin', 'confirm'] as const) {
      expect((await outcome(manner, { env: { SSH_ASKPASS: program } })).result).toBe('secret');
    }
  });

  it('fails where nobody can be asked, and where the answer is wrong or no', async () => {
    expect((await outcome('pin')).result).toBe('age-plugin-fake failed: wrong PIN');
    expect((await outcome('confirm')).result).toBe('age-plugin-fake failed: not confirmed');
    const answers = { secret: async () => '0000', confirm: async () => false };
    expect((await outcome('pin', { answers })).result).toBe('age-plugin-fake failed: wrong PIN');
    expect((await outcome('confirm', { answers })).result).toBe('age-plugin-fake failed: not confirmed');
  });
});

describe('a plugin that does not keep to the protocol', () => {
  it.each<[Manner, string]>([
    ['refuses', 'age-plugin-fake failed: the key is locked'],
    ['nothing', 'no matching key for this file'],
    ['dies', INVALID],
    ['dies in the middle', 'age-plugin-fake failed: no device'],
    ['reads no more', 'age-plugin-fake failed: no device'],
    ['wrong index', INVALID],
    ['short file key', INVALID],
    ['two file keys', INVALID],
    ['wrong file key', 'the header of the file was modified'],
    ['one long line', INVALID],
    ['a mebibyte of stanzas', INVALID],
    ['endless messages', INVALID],
  ])('opens nothing, and is named in one line: %s', async (manner, message) => {
    const { result } = await outcome(manner);
    if (manner === 'a mebibyte of stanzas') expect([message, INVALID]).toContain(result);
    else expect(result).toBe(message);
  });

  it.each<[Manner, string]>([
    ['refuses', 'age-plugin-fake failed: the key is locked'],
    ['nothing', INVALID],
    ['no stanza', INVALID],
    ['dies', INVALID],
    ['wrong index', INVALID],
    ['one long line', INVALID],
    ['a mebibyte of stanzas', INVALID],
  ])('encrypts nothing, and is named in one line: %s', async (wrapping, message) => {
    expect((await outcome('well', { wrapping })).result).toBe(message);
  });

  it('is ended when it says nothing', async () => {
    expect((await outcome('hangs', { silenceMs: 300 })).result).toBe(
      'age-plugin-fake did not respond within 1s and was killed',
    );
  });

  it('is not mixed with recipients that its labels exclude', async () => {
    const line = (...more: readonly string[]) => [
      'transit',
      'envelope',
      'encrypt',
      '--recipient',
      FAKE_RECIPIENT,
      ...more,
      '--in',
      'report',
      '--out',
      'mixed',
    ];
    const classical = printBech32('age', Buffer.alloc(32, 9));
    for (const [manner, words] of [
      ['post-quantum', 'cannot be mixed'],
      ['labels', 'does not allow its recipient'],
    ] as const) {
      const labelled = place.with({ FAKE_MANNER: manner });
      expect(await labelled.refused(line('--recipient', classical), 2)).toContain(words);
      expect(existsSync(place.file('mixed'))).toBe(false);
    }
  });
});
