import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

/* What is said about the text of a policy. */

let here: Place;
beforeAll(async () => {
  here = emptyPlace().with({ COFFER_MASTER_KEY: MASTER_KEY });
  await here.ok('init');
});
afterAll(() => removePlace(here));

const EXAMPLE = 'e.g. path "transit/encrypt/orders" { capabilities = ["update"] }';
const HELP = 'see "coffer help policy-format"';

const refusal = (input: string): Promise<string> => here.refused('policy write clerk -', 2, { input });

describe('a mistake in a policy', () => {
  it.each([
    [
      'path transit/* {',
      'line 1, column 13: a comment begins with "/*" and does not end',
      'put paths in double quotes, or end the comment with "*/"; ',
    ],
    ['path transit/x {', 'unexpected character "/"', 'put paths in double quotes; '],
    ["path 'a' {}", `unexpected character "'"`, 'use double quotes instead of single ones; '],
    ['path "a" { capabilities = [read] }', 'found "read"', 'put words in double quotes: "read"; '],
    ['path "a" { capabilites = ["read"] }', 'invalid key "capabilites"', 'did you mean "capabilities"? '],
    ['pth "a" {}', 'invalid key "pth"', 'did you mean "path"? '],
    ['capabilities = ["read"]', 'invalid key', 'write capabilities inside the braces that follow a path; '],
    [
      'path "a" { capabilities = ["raed"] }',
      'invalid capability "raed"',
      'did you mean "read"? use one or more of create, ',
    ],
    [
      'path "a" { capabilities = ["encrypt"] }',
      'invalid capability',
      'encrypt is not a capability: use "update"; use one or more',
    ],
    [
      'path "a/+*" { capabilities = ["read"] }',
      'path "a/+*": "+*" is not a wildcard: use + for one whole',
      '',
    ],
    ['hello', 'expected "=" or "{" after hello', ''],
    ['path "a" {', 'expected "}", found the end of the policy', ''],
  ])('is answered with what is meant, an example and the help: %s', async (text, message, meant) => {
    const said = await refusal(text);
    expect(said).toContain(message);
    expect(said).toContain(`(${meant}`);
    expect(said).toContain(`${EXAMPLE}; ${HELP})`);
  });

  it('of its meaning is answered with the help alone', async () => {
    expect(await refusal('path "a" { mfa_methods = [] }')).toBe(
      `coffer: policy: failed to parse policy: path "a": "mfa_methods" is not supported here (${HELP})`,
    );
  });

  it('is not in the example', async () => {
    const [, example = ''] = /e\.g\. (.*?); see/.exec(await refusal('hello')) ?? [];
    await here.ok('policy write clerk -', { input: example });
  });
});
