import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli/command-line.ts';
import { MASTER_KEY } from '../../e2e/harness.ts';
import { streamsDouble } from '../streams.double.ts';

let directory = '';

async function shown(line: string, columns = 120): Promise<{ readonly out: string }> {
  const streams = streamsDouble({ terminals: ['out', 'err'], columns });
  await runCommandLine(line.split(' '), streams, {
    COFFER_STORE: join(directory, 'store'),
    COFFER_MASTER_KEY: MASTER_KEY,
    COFFER_STATE: 'none',
    HOME: directory,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
  });
  return { out: streams.written.out };
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-revoked-'));
  await shown('init');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('a version that is revoked', () => {
  it('is still listed on a terminal, and leaves the date of the key empty', async () => {
    for (const line of [
      'transit keys create leaked',
      'transit keys rotate leaked',
      'transit keys revoke leaked 1',
    ])
      await shown(line);
    const { out } = await shown('transit keys read leaked');
    expect(out).toMatch(/│ 2 +│ just now │ latest +│\n│ 1 +│ +│ revoked +│/);
    expect((await shown('transit keys list')).out).toMatch(/│ leaked +│ \S+ +│ 2 +│ +│ just now +│/);
  });

  it('is part of the row of retired versions, if it is one', async () => {
    await shown('transit keys config leaked --min-decryption-version 2');
    const { out } = await shown('transit keys read leaked');
    expect(out).toMatch(/│ 2 +│ just now │ latest +│\n│ 1 +│ +│ retired \(below .*\n└/);
  });

  it('is named as a possible reason if its signature is refused, and is not said to be missing', async () => {
    const file = join(directory, 'release');
    writeFileSync(file, 'hello');
    for (const line of [
      'transit keys create signer --type ed25519',
      `sign ${file} --key signer`,
      `transit sign signer --in ${file} --out ${file}.transit`,
      'transit keys rotate signer --force',
      'transit keys revoke signer 1',
    ])
      await shown(line);
    expect((await shown(`verify ${file} --key signer`)).out).toContain(
      'or a version of signer that is revoked (1)',
    );
    expect((await shown(`verify ${file} ${file}.transit --key signer`)).out).toContain(
      'the key has no usable version 1',
    );
  });
});
