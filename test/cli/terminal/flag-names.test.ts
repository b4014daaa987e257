import { describe, expect, it } from 'vitest';
import { inFlags } from '../../../src/cli/terminal/hint-words.ts';

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
