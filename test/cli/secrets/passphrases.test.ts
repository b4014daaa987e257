import { describe, expect, it } from 'vitest';
import { freshPassphrase, weaknessOf } from '../../../src/cli/secrets/passphrases.ts';
import { systemRandom } from '../../../src/ground/random.ts';

describe('a passphrase', () => {
  it.each([
    ['x', 'it has only 1 character'],
    ['hunter2', 'it is among the first that anybody tries'],
    ['P@ssw0rd', 'it is among the first that anybody tries'],
    ['password123', 'it is among the first that anybody tries'],
    ['aaaaaaaaaaaaaaaaaaaaaaaa', 'most of it is a pattern'],
    ['abcdefghijklmnop', 'most of it is a pattern'],
    ['qwertyuiopasdfghjkl', 'most of it is a pattern'],
    ['12345678901234567890', 'most of it is a pattern'],
    ['secret', 'there is little in it but 1 common word'],
    ['Correct Horse', 'there is little in it but 2 common words'],
    ['x7#kQ', 'it has only 5 characters'],
  ])('such as %j is weak, and why', (passphrase, reason) => {
    expect(weaknessOf(passphrase)).toBe(reason);
  });

  it.each(['correct horse battery staple', 'k3Jx9fQ2mZpL', 'übermäßig schöne 7 Tage', 'x7#kQ9!mZ2'])(
    'such as %j is not',
    (passphrase) => {
      expect(weaknessOf(passphrase)).toBeUndefined();
    },
  );

  it('that is made here is seven words by chance, each as likely as any', () => {
    const made = new Set(Array.from({ length: 2000 }, () => freshPassphrase(systemRandom)));
    expect(made.size).toBe(2000);
    for (const passphrase of made) {
      expect(passphrase).toMatch(/^[a-z]{3,8}(-[a-z]{3,8}){6}$/);
      expect(weaknessOf(passphrase)).toBeUndefined();
    }
    // 14,000 draws from 2048 words leave out a word with a chance of 0.001 each.
    expect(new Set([...made].flatMap((passphrase) => passphrase.split('-'))).size).toBeGreaterThan(2020);
  });
});
