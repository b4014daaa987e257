import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clipboardOf } from '../../../src/cli/processes/clipboard.ts';
import { Session } from '../../../src/cli/session.ts';
import { refusal, refused } from '../../refusal.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';
import { promptsDouble, streamsDouble } from '../streams.double.ts';

/** The clipboard of a machine on which the program for it cannot be started. */
function clipboard(variables: Readonly<Record<string, string>> = {}, interpreter = '/nowhere/interpreter') {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'xsel'), `#!${interpreter}\nexit 1\n`, { mode: 0o755 });
  const environment = { PATH: directory, DISPLAY: ':0', HOME: directory, ...variables };
  const session = new Session(streamsDouble(), environment, new Map(), promptsDouble([], false), () =>
    Promise.reject(new Error('nothing is run')),
  );
  return clipboardOf(session, 'linux');
}

describe('the clipboard', () => {
  it.each(['1', '3600', '0001'])('may be cleared after %s seconds', (seconds) => {
    expect(() => clipboard({ COFFER_CLIPBOARD_SECONDS: seconds })).not.toThrow();
  });

  it.each(['0', '3601', '10000', '-1', '1.5', '1s', ' 1'])('is not cleared after %j seconds', (seconds) => {
    expect(refusal(() => clipboard({ COFFER_CLIPBOARD_SECONDS: seconds }))).toEqual({
      kind: 'invalid',
      message: `invalid value "${seconds}"`,
      field: 'COFFER_CLIPBOARD_SECONDS',
    });
  });

  it('is on a display that cannot be reached if the program refuses the value', async () => {
    await expect(clipboard({ DISPLAY: ':9' }, '/bin/sh').copy(Buffer.from('a'))).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'cannot use the clipboard: xsel cannot reach the display :9',
      hint: 'check DISPLAY, or omit --copy',
    });
  });

  it('is given a value of up to 1 MiB, and a longer one is refused before a program has it', async () => {
    expect((await refused(clipboard().copy(Buffer.alloc(2 ** 20)))).kind).toBe('unavailable');
    expect(await refused(clipboard().copy(Buffer.alloc(2 ** 20 + 1)))).toEqual({
      kind: 'invalid',
      message: 'the value is too large for the clipboard',
      field: undefined,
    });
  });
});
