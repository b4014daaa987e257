import { describe, expect, it } from 'vitest';
import { inFlags, inSamePlace } from '../../../src/cli/terminal/hint-words.ts';

const labelOf = (field: string): string | undefined =>
  ({ key_type: '--type', token_ttl: '--token-ttl' })[field];

describe('inFlags', () => {
  it.each([
    ['set key_type first', 'set --type first'],
    ["'token_ttl' cannot be 0", '--token-ttl cannot be 0'],
    ['key "key_type" not found', 'key "key_type" not found'],
    ["the key_type's value", "the key_type's value"],
    ['keys/key_type/x', 'keys/key_type/x'],
    ['other_name is unknown', 'other_name is unknown'],
    ["'other_name' is unknown", "'other_name' is unknown"],
  ])('turns %s into %s', (text, shown) => {
    expect(inFlags(text, labelOf)).toBe(shown);
  });
});

describe('inSamePlace', () => {
  it.each([
    ['run "coffer transit keys list"', 'run "coffer transit keys list --address http://c:8200"'],
    [
      'on purpose, run "coffer store accept"; if not',
      'on purpose, run "coffer store accept" on the server; if not',
    ],
    ['run "coffer rekey"', 'run "coffer rekey" on the server'],
    ['see "coffer rekey --help"', 'see "coffer rekey --help"'],
  ])('turns %s for the user of a server into %s', (hint, shown) => {
    expect(inSamePlace(hint, new Map([['address', 'http://c:8200']]))).toBe(shown);
  });

  it('keeps the store in commands on the store itself', () => {
    expect(inSamePlace('run "coffer rekey"', new Map([['store', './s']]))).toBe(
      'run "coffer rekey --store ./s"',
    );
  });
});
