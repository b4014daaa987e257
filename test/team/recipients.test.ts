import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sshBlob } from '../../src/signatures/ssh-key.ts';
import type { CardFact } from '../../src/team/fact.ts';
import { cardsFor } from '../../src/team/own-key.ts';
import { isRecipient, isSigner, recipientOf, sshLineOf } from '../../src/team/recipients.ts';
import { printBech32 } from '../../src/transit/key-types/age/bech32.ts';
import { refusal } from '../refusal.ts';

const ed = sshLineOf(generateKeyPairSync('ed25519').publicKey);
const rsaOf = (modulusLength: number): string => {
  const blob = sshBlob(generateKeyPairSync('rsa', { modulusLength }).publicKey);
  return `ssh-rsa ${blob.toString('base64')}`;
};
const x25519 = printBech32('age', Buffer.alloc(32, 9));
const ofPlugin = printBech32('age1yubikey', Buffer.alloc(33, 1));
const noPlugin = { run: () => Promise.reject(new RangeError('no plugin is run here')) };

describe('a public key in a card', () => {
  it('is one that files can be encrypted to, written in its only way', () => {
    for (const text of [ed, x25519, ofPlugin]) expect(isRecipient(text)).toBe(true);
    for (const text of [
      x25519.toUpperCase(),
      `${ed} comment`,
      ed.replace('ssh-ed25519', 'ssh-rsa'),
      `${ed}=`,
      '',
    ]) {
      expect(isRecipient(text)).toBe(false);
    }
    expect(isRecipient(printBech32('age', Buffer.alloc(32)))).toBe(false);
  });

  it('has at most 4,096 characters, whoever can read it', () => {
    const long = (bytes: number) => printBech32('age1yubikey', Buffer.alloc(bytes, 1));
    const [most, more] = [long(2548), long(2549)];
    expect([most.length <= 4096, more.length > 4096]).toEqual([true, true]);
    expect([isRecipient(most), isRecipient(more)]).toEqual([true, false]);
  });

  it('of RSA has 2,048 bits at least', () => {
    expect([isRecipient(rsaOf(2048)), isRecipient(rsaOf(2040))]).toEqual([true, false]);
  });

  it('signs if it is of Ed25519, and no other one does', () => {
    expect([isSigner(ed), isSigner(x25519), isSigner(rsaOf(2048))]).toEqual([true, false, false]);
  });

  it('is none that names a key of whichever store encrypts', () => {
    const ofStore = printBech32('age1coffer', Buffer.alloc(33, 1));
    expect(refusal(() => recipientOf(ofStore, noPlugin as never))).toMatchObject({
      kind: 'unsupported',
      message: expect.stringContaining('other members would encrypt with a key in their stores'),
    });
  });
});

describe('the cards of a key', () => {
  const card = (name: string, ...keys: string[]) =>
    ({ id: name, card: { name, keys } }) as unknown as CardFact;
  const own = card('own', ed, ofPlugin);
  const tagged = card('tagged', printBech32('age1tag', Buffer.alloc(33, 2)));
  const other = card('other', x25519, printBech32('age1yubikeys', Buffer.alloc(33, 1)));
  const identity = (): never => {
    throw new Error('was asked');
  };

  it('are those that name it, and no others', () => {
    expect(cardsFor({ recipient: ed, identity }, [own, tagged, other])).toEqual([own]);
    expect(cardsFor({ recipient: 'ssh-ed25519 AAAA', identity }, [own, tagged, other])).toEqual([]);
    expect(cardsFor({ recipient: x25519, plugin: 'yubikey', identity }, [own, tagged, other])).toEqual([
      other,
    ]);
  });

  it('are, if a plugin does not say which key it is, those with any key of that plugin or of any', () => {
    expect(cardsFor({ recipient: '', plugin: 'yubikey', identity }, [own, tagged, other])).toEqual([
      own,
      tagged,
    ]);
  });
});
