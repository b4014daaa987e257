import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { keysInText, remembering, shareIn, type UnsealKey } from '../../src/service/unseal-keys.ts';
import { splitNewSecret } from '../../src/store/slots/shares.ts';
import type { Credential } from '../../src/store/slots/unlock.ts';

const revealed = (credential: Credential | undefined) =>
  credential === undefined || credential.kind === 'recipient' ? undefined : credential.reveal();

const SLOT = '0123456789abcdef';
const { shareTexts } = await splitNewSecret(SLOT, { count: 3, threshold: 2 }, systemRandom);
const [share = ''] = shareTexts;

describe('a text that is offered to unseal a server', () => {
  it('is a share when it looks like one, in any case and broken into lines', () => {
    const expected = { slot: SLOT, count: 3, threshold: 2 };
    expect(shareIn(share)).toEqual(expected);
    expect(shareIn(`  ${share.toUpperCase().replaceAll('.', '.\n')}\n`)).toEqual(expected);
  });

  it('may be the content of a key file from 32 bytes on', () => {
    const kinds = (text: string) => keysInText(text).map(({ kind }) => kind);
    expect(kinds('k'.repeat(31))).toEqual(['passphrase']);
    expect(kinds('k'.repeat(32))).toEqual(['passphrase', 'key-file']);
  });

  it('is a share in 512 characters', () => {
    expect(shareIn(share.padEnd(512))?.slot).toBe(SLOT);
  });

  it.each([
    ['longer than any share', share.padEnd(513)],
    ['with something after its end', `${share}00`],
    ['without its end', share.slice(0, -1)],
    ['of more shares than there can be', share.replace('need2', 'need2000')],
  ])('is no share when it is one %s, so that a sealed server does not keep it', (_, text) => {
    expect(shareIn(text)).toBeUndefined();
    expect(keysInText(text).map(({ kind }) => kind)).toContain('passphrase');
  });
});

describe('a credential whose keys are remembered', () => {
  it.each<Exclude<Credential, { kind: 'recipient' }>>([
    { source: 'a question', kind: 'passphrase', asks: true, again: () => false, reveal: () => 'secret' },
    { source: 'a question', kind: 'shares', asks: true, again: () => false, reveal: () => ['secret'] },
  ])('stays what it is: $kind, asked for last and perhaps again', async (credential) => {
    const keys: UnsealKey[] = [];
    const [same] = remembering([credential], (key) => keys.push(key));
    expect(same).toMatchObject({ ...credential, reveal: expect.any(Function) });
    expect(await revealed(same)).toEqual(credential.reveal());
    expect(keys.map(({ kind }) => kind)).toEqual([credential.kind]);
  });
});
