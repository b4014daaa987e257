import { chmodSync, mkdtempSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { asCofferError } from '../../src/ground/errors.ts';
import { isOfTrustedOwner, refuseExposed, refuseWritable } from '../../src/ground/private-files.ts';

/** The refusal of a file that everybody may read. */
function refusedFor(content: string | Uint8Array): { readonly path: string; readonly text: string } {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-private-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'file');
  writeFileSync(path, content);
  chmodSync(path, 0o644);
  try {
    refuseExposed(path, statSync(path));
  } catch (error) {
    const { message, hint } = asCofferError(error) ?? {};
    return { path, text: `${message} (${hint})` };
  }
  throw new Error('it was not refused');
}

describe.skipIf(process.platform === 'win32')('a file that others can read', () => {
  it.each([
    ['a text of one line', 'correct horse battery staple\n'],
    ['bytes', Uint8Array.from({ length: 64 }, (_, at) => 255 - at * 7)],
    ['a private key in PEM', '-----BEGIN PRIVATE KEY-----\nMC4CAQ\n-----END PRIVATE KEY-----\n'],
    ['an identity of age', '# created: 2026\n# public key: age1x\nAGE-SECRET-KEY-1QQ\n'],
    ['passwords for PostgreSQL', '# mine\ndb.example.com:5432:*:ada:secret\n*:*:*:ada:other\n'],
    ['recovery shares', 'coffer-share.1.0\ncoffer-share.1.1\n'],
  ])('is refused with the command that makes it private if it may be a secret: %s', (_, content) => {
    const { path, text } = refusedFor(content);
    expect(text).toBe(`${path} can be read by others (run "chmod 600 ${path}")`);
  });

  it('is refused without a command that changes it if it is another file, which other programs need so', () => {
    const { path, text } = refusedFor('root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n');
    expect(text).toBe(
      `${path} can be read by others (check the path: this does not look like a file with a secret; ` +
        'such a file must be readable only by its owner)',
    );
  });
});

describe.skipIf(process.platform === 'win32')('the owner of a file', () => {
  const statsOf = (uid: number, mode: number): Stats =>
    Object.assign(statSync('.'), { uid, mode, isFile: () => true });

  it.each([
    // user, owner, who is behind sudo, trusted
    [1000, 1000, undefined, true],
    [1000, 0, undefined, true],
    [1000, 1001, undefined, false],
    [1000, 1001, 1001, false],
    [0, 0, 1000, true],
    [0, 1000, 1000, true],
    [0, 1001, 1000, false],
    [0, 1000, undefined, false],
  ])('is trusted by user %i if it is %i and sudo was called by %j: %j', (own, uid, behind, isTrusted) => {
    vi.spyOn(process, 'geteuid').mockReturnValue(own);
    expect(isOfTrustedOwner({ uid }, behind)).toBe(isTrusted);
  });

  it.each([
    [1000, 0o600, undefined],
    [0, 0o600, undefined],
    [1001, 0o600, 'belongs to user 1001, you are user 1000'],
    [1000, 0o640, 'can be read by others'],
    [0, 0o602, 'can be written by others'],
  ])('is the user or root, or the file is refused: %i, mode %i', (uid, mode, why) => {
    vi.spyOn(process, 'geteuid').mockReturnValue(1000);
    const path = '/nowhere/secret';
    const refusal = (): string | undefined => {
      try {
        refuseExposed(path, statsOf(uid, mode));
      } catch (error) {
        const { message, hint } = asCofferError(error) ?? {};
        return `${message} (${hint})`;
      }
      return undefined;
    };
    const [chown, chmod] = ['chown 1000', `chmod 600 ${path}`];
    const command = uid === 1000 ? `"${chmod}"` : `"${chown} ${path} && ${chmod}" as root`;
    // A file that cannot be read may be a secret.
    expect(refusal()).toBe(why && `${path} ${why} (run ${command})`);
  });

  it('need not keep a file from being read if it is only not to be written by others', () => {
    vi.spyOn(process, 'geteuid').mockReturnValue(1000);
    refuseWritable('/nowhere/rules', statsOf(1000, 0o644));
    expect(() => refuseWritable('/nowhere/rules', statsOf(1000, 0o664))).toThrow('can be written by others');
    expect(() => refuseWritable('/nowhere/rules', statsOf(1001, 0o644))).toThrow('belongs to user 1001');
  });
});
