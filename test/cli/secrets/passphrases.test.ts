import { describe, expect, it } from 'vitest';
import { freshPassphrase, weaknessOf } from '../../../src/cli/secrets/passphrases.ts';
import { systemRandom } from '../../../src/ground/random.ts';

describe('a passphrase', () => {
  it.each([
    ['x', 'it has only 1 character'],
    ['hunter2', 'it is a common password'],
    ['P@ssw0rd', 'it is a common password'],
    ['password123', 'it is a common password'],
    ['aaaaaaaaaaaaaaaaaaaaaaaa', 'it is mostly a pattern'],
    ['abcdefghijklmnop', 'it is mostly a pattern'],
    ['qwertyuiopasdfghjkl', 'it is mostly a pattern'],
    ['12345678901234567890', 'it is mostly a pattern'],
    ['secret', 'it consists mostly of 1 common word'],
    ['Correct Horse', 'it consists mostly of 2 common words'],
    ['hunterxkqzvw', 'it is a common password'],
    ['hunterxkqzvwb', 'it is easy to guess'],
    ['abcdefxkqzvw', 'it is mostly a pattern'],
    ['sugarxkqzv', 'it consists mostly of 1 common word'],
    ['trustno1', 'it is a common password'],
    ['x7#kQ', 'it has only 5 characters'],
    ['83051749602', 'it has only 11 characters'],
    ['830517496027', 'it is easy to guess'],
  ])('such as %j is weak, and why', (passphrase, reason) => {
    expect(weaknessOf(passphrase)).toBe(reason);
  });

  it.each(['correct horse battery staple', 'k3Jx9fQ2mZpL', 'übermäßig schöne 7 Tage', 'x7#kQ9!mZ2'])(
    'such as %j is not',
    (passphrase) => {
      expect(weaknessOf(passphrase)).toBeUndefined();
    },
  );

  it('of exactly 50 bits is not weak, and one with fewer is: three common passwords and years', () => {
    expect(weaknessOf('dragon1984monkey1976shadow205219672085')).toBeUndefined();
    expect(weaknessOf('dragon1984monkey1976shadow205219672')).toBe('it is a common password');
  });

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
