import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inPlainWords } from '../../src/cli/plain-texts.ts';
import { conflict, invalid, notFound, unavailable } from '../../src/ground/errors.ts';

/* Texts that clients of Vault compare, and what the command line prints for them. */

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Words of the inside of Vault and of its libraries: a mount is a backend there. */
const INSIDE =
  /\bbackend\b|within Vault|\bfactory\b|\bhandler for route\b|\bsecret engine\b|\bcatalog\b|go-jose/i;
/** A key is a policy there; elsewhere a policy is that of a token. */
const OF_KEYS = /^src\/(?:operations\/)?transit\//;

const isInside = (file: string, text: string): boolean =>
  INSIDE.test(text) || (OF_KEYS.test(file) && /\bpolicy\b/.test(text) && text.includes(' '));

/** Finds the texts of errors in the sources, with X in place of each expression. */
function textsOfErrors(): readonly (readonly [file: string, text: string])[] {
  const text = /\(\s*(?:ownWords\(\s*)?(?:name,\s*)?(?:'([^'\n]+)'|`([^`]+)`)/g;
  return globSync('src/{transit,mounts,access,operations/{transit,access,auth,sys}}/**/*.ts', {
    cwd: root,
  }).flatMap((file) =>
    [...readFileSync(`${root}/${file}`, 'utf8').matchAll(text)].map(
      ([, plain, template]) => [file, (plain ?? template ?? '').replace(/\$\{[^{}]*\}/g, 'X')] as const,
    ),
  );
}

const said = (message: string): string => inPlainWords(invalid(message)).message;

describe('the command line', () => {
  it('prints no word of the inside of Vault', () => {
    const texts = textsOfErrors().filter(([file, text]) => isInside(file, text));
    expect(texts.filter(([file, text]) => isInside(file, said(text)))).toEqual([]);
    expect(texts.length).toBeGreaterThan(10);
  });

  it('says of a key, not of a policy, that it may not be deleted', () => {
    const error = conflict('error deleting policy orders: deletion is not allowed for this key', {
      field: 'name',
      hint: 'do this',
    });
    expect(inPlainWords(error)).toMatchObject({
      kind: 'conflict',
      message: 'key orders may not be deleted',
      field: 'name',
      hint: 'do this',
    });
  });

  it.each([
    ["'bytes' should be less than 131072", 'too many bytes', 'use 1 to 131072'],
    ["'bytes' cannot be less than 1", 'too few bytes', 'use 1 to 131072'],
    [
      'error validating token: error verifying token signature: failed to unmarshal key ID',
      'the token cannot be read: its key ID (kid) is not text',
      'get a new token from its issuer',
    ],
    [
      'error validating token: error verifying token signature: fetching keys oidc: get keys failed',
      'the server cannot fetch the keys of the issuer of the token',
      'an administrator sees the reason with "coffer auth jwt config"',
    ],
    [
      'tuning of user lockout configuration for auth type "jwt" not allowed',
      'the login method jwt does not lock out users',
      'only approle, ldap and userpass have these settings',
    ],
    [
      'unsupported encoding format x; must be "hex" or "base64"',
      'unsupported encoding format x',
      'use hex or base64',
    ],
    ["cannot provide negative value '-1h'", '-1h is negative', 'use 0 or more'],
  ])('does not contradict itself, and says what to do: %s', (message, plain, hint) => {
    const own = message.includes('bytes') ? { hint } : {};
    expect(inPlainWords(invalid(message, own))).toMatchObject({ message: plain, hint });
  });

  it.each([
    'key not found',
    'encryption key not found',
    'signing key not found',
    'invalid key name',
    'no existing key named orders could be found',
    'error deleting policy orders: could not delete key; not found',
    'no such source key for export',
    "key with provided name 'orders' not found",
    'no key found with name orders; to import a new key, use the import/ endpoint',
  ])('names a missing key once, in one text: %s', (message) => {
    const error = notFound(message, { field: 'name', hint: 'no key "orders"; list the keys', isGone: true });
    expect(inPlainWords(error)).toMatchObject({
      kind: 'not-found',
      message: 'key "orders" not found',
      hint: 'list the keys',
      isGone: true,
    });
  });

  it('says which setting cannot have a value, which wildcards there are, and what does not fit', () => {
    expect(said('backup has the key type 3, which contradicts its type name "x"')).toBe(
      'backup has the key type 3, which does not fit its type name "x"',
    );
    expect(said('agent cannot be the execution-mode: no')).toBe('execution-mode cannot be agent: no');
    expect(inPlainWords(invalid(`path "a/+*": invalid use of wildcards ('+*' is forbidden)`)).message).toBe(
      'path "a/+*": "+*" is not a wildcard: use + for one whole part of a path, and * only at the end',
    );
  });

  it('keeps what was done before a key was missing', () => {
    const error = notFound('key not found; already done: first', { hint: 'no key "second"; list the keys' });
    expect(inPlainWords(error).message).toBe('key "second" not found; already done: first');
  });

  it('names the option for a limit of a key, not the parameter of the API', () => {
    const error = invalid('no such key version', { hint: 'min_decryption_version of this key is 2' });
    expect(inPlainWords(error)).toMatchObject({
      message: 'no such key version',
      hint: '--min-decryption-version of this key is 2',
    });
  });

  it.each([
    ['cipher: message authentication failed', 'cannot decrypt the ciphertext'],
    [
      'failed to parse policy: path "a": invalid key "capabilites" on line 2',
      'failed to parse policy: path "a": unknown word "capabilites" on line 2',
    ],
    [
      'failed to parse policy: invalid key "paths" on line 1',
      'failed to parse policy: unknown word "paths" on line 1',
    ],
    [
      'could not validate if there is only one leaf certificate in the provided chain',
      'each certificate after the first must be of a CA',
    ],
    [
      'go-jose/go-jose/jwt: expected number value to unmarshal NumericDate',
      'a time in the token is not a number',
    ],
    [
      'error validating token: json: cannot unmarshal number into Go struct field Claims.iss of type string',
      'error validating token: claim "iss" of the token is not text',
    ],
    [
      "'token_type' cannot be 'batch' or 'default_batch' when set to generate tokens with limited use count",
      'token_type cannot be batch for tokens with limited use count',
    ],
    [
      'failed to renew entry: role "ada" does not exist during renewal',
      'cannot renew the token: the user or role "ada" that it was issued for no longer exists',
    ],
    [
      "'token_type' cannot be 'batch' when role is set to generate periodic tokens",
      'token_type cannot be batch for periodic tokens',
    ],
    [
      'cannot set min encryption version of 3, latest key version is 2',
      'min_encryption_version cannot be 3: the latest version of the key is 2',
    ],
    [
      "'[0].associated_data' provided for non-AEAD cipher suite rsa-2048",
      'associated_data cannot be used with keys of type rsa-2048',
    ],
    [
      "'[0].padding_scheme' invalid: unsupported key type aes256-gcm96 for padding scheme",
      'padding_scheme cannot be used with keys of type aes256-gcm96',
    ],
    [
      "'[1].padding_scheme' invalid: unsupported key type aes256-gcm96 for padding scheme",
      "'[1].padding_scheme' invalid: unsupported key type aes256-gcm96 for padding scheme",
    ],
    ['expected ephemeral AES key to be 256-bit', 'the wrapped key must begin with an AES key of 256 bits'],
    [
      'root or sudo privileges required to create orphan token',
      'a root token or the sudo capability is required to create an orphan token',
    ],
    [
      'root or sudo privileges required to create periodic token',
      'a root token or the sudo capability is required to create a periodic token',
    ],
  ])('says in words of its users: %s', (message, plain) => {
    expect(said(message)).toBe(plain);
  });

  it('adds what to do to a text without a hint, and leaves the hint of another one', () => {
    const text = 'could not load configuration';
    expect(inPlainWords(invalid(text)).hint).toBe('an administrator runs "coffer auth jwt configure"');
    expect(inPlainWords(invalid(text, { hint: 'do this' })).hint).toBe('do this');
  });

  it('names the local store in place of a server that does not answer only if there may be one', () => {
    const error = unavailable('cannot reach http://127.0.0.1:1: connection refused', {
      hint: 'check that "coffer serve" is running',
    });
    const check = 'check that "coffer serve" is running at the address in VAULT_ADDR';
    expect(inPlainWords(error, 'VAULT_ADDR', 'transit', false).hint).toBe(check);
    expect(inPlainWords(error, 'VAULT_ADDR').hint).toBe(
      `${check}; to use the local store, run "unset VAULT_ADDR"`,
    );
  });

  it('leaves an error alone that has only plain words', () => {
    const error = notFound('tag "a" not found', { hint: 'list the tags' });
    expect(inPlainWords(error)).toBe(error);
  });

  it('says what is wrong with a route that leads nowhere', () => {
    const text = 'no handler for route "foo/bar". route entry not found.';
    expect(inPlainWords(notFound(text, { field: 'mount' })).message).toBe('no mount "foo/bar"');
    expect(inPlainWords(notFound(text)).message).toBe('nothing is mounted at "foo/bar"');
  });
});
