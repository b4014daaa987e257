import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { asCofferError } from '../../src/ground/errors.ts';
import { refuseExposed } from '../../src/ground/private-files.ts';

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
      `${path} can be read by others (check the path: this does not look like a file with a secret, ` +
        'which only its owner may read)',
    );
  });
});
