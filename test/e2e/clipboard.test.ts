import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { clearAfterwards } from '../../src/cli/processes/clipboard.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

/* A clipboard that is a file: the fake programs are all that the command finds. */

let bare: Place;
let here: Place;
const clip = (): string => bare.file('clip');
/** All that was ever put on it: a second later it is empty again. */
const copies = (): string => readFileSync(bare.file('copies'), 'utf8');
const held = (): string => (existsSync(clip()) ? readFileSync(clip(), 'utf8') : '');

beforeAll(async () => {
  bare = emptyPlace();
  const programs = bare.file('programs');
  mkdirSync(programs);
  const script = (name: string, line: string) =>
    writeFileSync(join(programs, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  script(
    'wl-copy',
    `/bin/cat > '${clip()}.new'; /bin/cat '${clip()}.new' >> '${bare.file('copies')}'; /bin/mv '${clip()}.new' '${clip()}'`,
  );
  script('wl-paste', `exec /bin/cat '${clip()}'`);
  here = bare.with({
    COFFER_MASTER_KEY: MASTER_KEY,
    COFFER_CLIPBOARD_SECONDS: '1',
    WAYLAND_DISPLAY: 'wayland-9',
    PATH: programs,
  });
  await here.ok('init');
  await here.ok('transit keys create app');
});
afterAll(() => removePlace(bare));

describe('--copy', () => {
  it('puts the value on the clipboard, prints nothing, and empties the clipboard afterwards', async () => {
    const encrypted = await here.ok('transit encrypt app', { input: 'the secret' });
    const copied = await here.spawned.run('transit decrypt app --copy', { input: encrypted });
    expect(copied).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: 'Copied to the clipboard, which is cleared in 1s.\n',
    });
    expect(copies()).toBe('the secret');
    await vi.waitUntil(() => held() === '', { timeout: 20_000 });
  });

  it.each(['keygen --copy', 'transit random 32 --copy', 'secrets get values.env API_TOKEN --copy'])(
    'works for "%s", which prints nothing then',
    async (line) => {
      writeFileSync(bare.file('values.env'), 'API_TOKEN=0123456789\n');
      writeFileSync(bare.file('copies'), '');
      expect(await here.spawned.run(line)).toMatchObject({ exitCode: 0, stdout: '' });
      expect(copies().length).toBeGreaterThanOrEqual(10);
      await vi.waitUntil(() => held() === '', { timeout: 20_000 });
    },
  );

  it('gives a new token to nothing but the clipboard, and revokes it if that fails', async () => {
    writeFileSync(bare.file('copies'), '');
    expect(await here.spawned.run('token create --policy default --copy')).toMatchObject({
      exitCode: 0,
      stdout: '',
    });
    expect(copies()).toMatch(/^cfr\.[\w-]+$/);
    await vi.waitUntil(() => held() === '', { timeout: 20_000 });
    const before = await here.ok('token list');
    const broken = bare.file('broken');
    mkdirSync(broken, { recursive: true });
    writeFileSync(join(broken, 'wl-copy'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const refusal = await here.with({ PATH: broken }).refused('token create --policy default --copy', 1);
    expect(refusal).toMatch(/the result was not copied: .*; the token was revoked \(create another one\)/);
    expect(await here.ok('token list')).toBe(before);
  });

  it('is refused without a program for it before anything is decrypted, and with another destination', async () => {
    const nowhere = here.with({ PATH: bare.file('empty') });
    expect(await nowhere.refused('transit decrypt app nonsense --copy', 1)).toContain(
      'no clipboard program found (install wl-clipboard',
    );
    expect(await here.with({ WAYLAND_DISPLAY: undefined }).refused('keygen --copy', 1)).toContain(
      'no display for the clipboard (set WAYLAND_DISPLAY, or omit --copy)',
    );
    const overSsh = here.with({ WAYLAND_DISPLAY: undefined, SSH_CONNECTION: '127.0.0.1 1 127.0.0.1 22' });
    expect(await overSsh.refused('keygen --copy', 1)).toContain(
      'no display for the clipboard (over SSH, use --out FILE, or set WAYLAND_DISPLAY)',
    );
    expect(await here.refused('keygen --copy --out key', 2)).toContain('--copy cannot be used with --out');
    expect(await here.refused('transit random --copy -o json', 2)).toContain('cannot be used with');
    for (const seconds of ['soon', '0', '3601', '1.5'])
      expect(await here.with({ COFFER_CLIPBOARD_SECONDS: seconds }).refused('keygen --copy', 2)).toContain(
        `COFFER_CLIPBOARD_SECONDS: invalid value "${seconds}"`,
      );
  });

  it('leaves on the clipboard what was copied since', async () => {
    const key = Buffer.alloc(32, 7);
    const clearing = (value: string) =>
      JSON.stringify({
        seconds: 0,
        copy: [join(bare.file('programs'), 'wl-copy')],
        paste: [join(bare.file('programs'), 'wl-paste')],
        key: key.toString('base64'),
        hash: createHmac('sha256', key).update(value).digest('base64'),
      });
    writeFileSync(clip(), 'something else');
    await clearAfterwards(clearing('the secret'), {});
    expect(held()).toBe('something else');
    writeFileSync(clip(), 'the secret\r\n');
    await clearAfterwards(clearing('the secret'), {});
    expect(held()).toBe('');
  });
});
