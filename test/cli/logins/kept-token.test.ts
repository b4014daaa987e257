import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { TokenFile } from '../../../src/cli/logins/kept-token.ts';
import { refusal } from '../../refusal.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';

const ADDRESS = 'https://coffer.example:8200';
const KEPT = { token: 't', isOwn: true, again: 'coffer login' };

function tokenFile(): TokenFile {
  return TokenFile.required({ XDG_STATE_HOME: join(temporaryDirectory(), 'state') }, ADDRESS);
}

it('a token that a login keeps is read back as it was, from a file of its owner alone', async () => {
  const file = tokenFile();
  expect(file.read()).toBeUndefined();
  for (const kept of [KEPT, { ...KEPT, expiresMs: 1 }]) {
    await file.write(kept);
    expect(file.read()).toEqual({ expiresMs: undefined, ...kept });
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
  }
});

it.each<[unknown]>([
  [null],
  [7],
  ['t'],
  [[]],
  [{ ...KEPT, token: 7 }],
  [{ ...KEPT, again: undefined }],
  [{ ...KEPT, isOwn: 'true' }],
  [{ ...KEPT, expiresMs: '1' }],
])('no token is read from a file that a login did not write: %j', (content) => {
  const file = tokenFile();
  mkdirSync(dirname(file.path), { recursive: true });
  writeFileSync(file.path, JSON.stringify(content), { mode: 0o600 });
  expect(refusal(() => file.read())).toEqual({
    kind: 'corrupt',
    message: `${file.path} was not written by "coffer login"`,
    field: undefined,
  });
  expect(readFileSync(file.path, 'utf8')).toBe(JSON.stringify(content));
});

it('a token that cannot be deleted or read is told with the reason, and none is where its directory would be a file', () => {
  const file = tokenFile();
  mkdirSync(file.path, { recursive: true });
  expect(refusal(() => file.read()).message).toContain(`cannot read ${file.path}: `);
  expect(refusal(() => file.forget()).message).toContain(`cannot delete ${file.path}: `);
  const other = tokenFile();
  mkdirSync(dirname(dirname(other.path)), { recursive: true });
  writeFileSync(dirname(other.path), 'a file');
  expect(other.read()).toBeUndefined();
});
