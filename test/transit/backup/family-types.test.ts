import { beforeAll, describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { backupKey, writeBackup } from '../../../src/transit/backup/backup-key.ts';
import { readBackup, restoreKey } from '../../../src/transit/backup/restore-key.ts';
import type { Engine } from '../../../src/transit/engine.ts';
import { keyTypeCalled } from '../../../src/transit/key-types/index.ts';
import type { BackupMaterial } from '../../../src/transit/key-types/key-type.ts';
import { createKey } from '../../../src/transit/lifecycle.ts';
import { verify } from '../../../src/transit/verification.ts';
import { only, signatureRequest } from '../../interop/transit-calls.ts';
import { goBackup, goDocument, goEntry, type Members } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import ofOpenBao from '../../vectors/openbao-ml-dsa.json' with { type: 'json' };
import { freshEngine } from '../fresh-engine.ts';

/** Backups of types that the family has under other names and numbers than ours. */

const read = (document: unknown) => readBackup(goBackup(document), undefined, systemRandom);
const documentOf = (backup: string) => JSON.parse(Buffer.from(backup, 'base64').toString()) as Members;
const policyOf = (backup: string) => documentOf(backup)['policy'] as Members;

let engine: Engine;
beforeAll(async () => {
  engine = await freshEngine();
});

describe.each(ofOpenBao)('a key of the type $familyName, restored from OpenBao', (vector) => {
  const { name, type, familyName, seed, pkcs8, message, signature, backup } = vector;

  it('has our type, the seed that OpenBao exports, is wrapped in the form that OpenBao takes, and verifies what OpenBao signed', async () => {
    const key = await restoreKey(engine, { backup, force: false });
    expect(key.document).toMatchObject({ type, familyName });
    const material = key.version(1)?.material;
    expect(key.type.exportSecret?.(material, 'raw')).toBe(seed);
    expect(key.type.importing?.secretBytes(material).toString('base64')).toBe(pkcs8);
    const valid = await verify(engine, name, [{ input: message, signature }], {
      request: signatureRequest,
      single: true,
    });
    expect(only(valid)).toBe(true);
  });

  it('is written again as OpenBao wrote it, but for the name', async () => {
    const written = documentOf(await writeBackup(await readBackup(backup, undefined, systemRandom)));
    const { ParameterSet, ...policy } = written['policy'] as Members;
    expect(ParameterSet).toEqual({ name: familyName });
    expect({ ...written, policy }).toEqual(documentOf(backup));
  });
});

const named = [
  ['mldsa-44', '', 12],
  ['ml-dsa', '65', 13],
  ['ml-dsa-87', '', 14],
  ['slh-dsa', 'slh-dsa-sha2-128f', 'slh-dsa-sha2-128f'],
  ['slh-dsa-sha2-128f', '', 'slh-dsa-sha2-128f'],
] as const;

describe('our own backup', () => {
  it.each(named)(
    'of a key made as %s (%j) says OpenBao’s number where there is one, and comes back under that name',
    async (type, parameterSet, number) => {
      const name = `own-${type}`;
      await createKey(engine, name, {
        type,
        parameterSet,
        derived: false,
        convergentEncryption: false,
        exportable: true,
        allowPlaintextBackup: true,
        autoRotatePeriodSeconds: 0,
        keyBytes: 0,
      });
      const backup = await backupKey(engine, name);
      expect(policyOf(backup)['type']).toBe(number);
      const again = await readBackup(backup, undefined, systemRandom);
      const called = keyTypeCalled(type, parameterSet);
      expect(again.type).toBe(called?.type.name);
      expect(again.familyName).toBe(called?.familyName?.name);
    },
  );

  it('of an earlier release, which says the name in place of the number, comes back', async () => {
    const { policy, ...rest } = documentOf(ofOpenBao[0]?.backup ?? '');
    const key = await read({ ...rest, policy: { ...(policy as Members), type: 'ml-dsa-44' } });
    expect(key).toMatchObject({ type: 'ml-dsa-44' });
    expect(key.familyName).toBeUndefined();
  });
});

/** A version as Vault lays it out, which leaves out what is empty, with the key where OpenBao has it. */
async function vaultEntry(
  typeName: string,
  without: readonly (keyof BackupMaterial)[] = [],
): Promise<Members> {
  const type = keyTypeCalled(typeName, '')?.type ?? expect.fail(`no type ${typeName}`);
  const { key, publicKey } = await type.backup.write(await type.generate(systemRandom, 0));
  const { external_key_ref, ...entry } = goEntry({
    key: without.includes('key') ? null : Buffer.from(key ?? []).toString('base64'),
    public_key: without.includes('publicKey') ? '' : publicKey,
  });
  return entry;
}

function vaultDocument(entry: Members, policy: Members): Members {
  const { soft_deleted, ...rest } = goDocument([entry], { HybridConfig: {}, ...policy })['policy'] as Members;
  return { policy: rest, archived_keys: null };
}

describe('a backup in the layout of Vault', () => {
  it.each([
    [14, '44', 'ml-dsa-44', 'ml-dsa'],
    [14, '87', 'ml-dsa-87', 'ml-dsa'],
    [17, 'slh-dsa-sha2-128f', 'slh-dsa-sha2-128f', 'slh-dsa'],
  ])('with the number %i and the parameter set %s is a key of type %s', async (number, set, type, name) => {
    const key = await read(vaultDocument(await vaultEntry(type), { type: number, ParameterSet: set }));
    expect(key).toMatchObject({ type, familyName: name });
  });

  it.each<[string, number, Members, (keyof BackupMaterial)[]]>([
    ['14 (mldsa-87 in OpenBao, ml-dsa in Vault), which is not supported', 14, {}, []],
    [
      '14 (mldsa-87 in OpenBao, ml-dsa in Vault) with the parameter set "45", which is not supported',
      14,
      { ParameterSet: '45' },
      [],
    ],
    ['12 (mldsa-44 in OpenBao, aes128-cmac in Vault), which is not supported', 12, {}, []],
    ['13 (mldsa-65 in OpenBao, aes256-cmac in Vault), which is not supported', 13, {}, ['publicKey']],
    [
      '17 (slh-dsa in Vault) with the parameter set "slh-dsa-shake-128s", which is not supported',
      17,
      { ParameterSet: 'slh-dsa-shake-128s' },
      [],
    ],
    ['14 and only one half of a key pair, so its format is unknown', 14, { ParameterSet: '44' }, ['key']],
    [
      '14 and only one half of a key pair, so its format is unknown',
      14,
      { ParameterSet: '44' },
      ['publicKey'],
    ],
  ])('is refused: %s (%i, %j, without %j)', async (words, type, members, without) => {
    const entry = await vaultEntry('ml-dsa-44', without);
    expect(await rejectionOf(read(vaultDocument(entry, { type, ...members })))).toMatchObject({
      kind: 'unsupported',
      message: `backup has the key type ${words}`,
      field: 'backup',
    });
  });

  it('is refused where the private key is none of the parameter set, or not that of the public key', async () => {
    const other = await vaultEntry('ml-dsa-44');
    const own = await vaultEntry('ml-dsa-44');
    for (const entry of [await vaultEntry('ml-dsa-65'), { ...own, public_key: other['public_key'] }]) {
      const document = vaultDocument(entry, { type: 14, ParameterSet: '44' });
      expect(await rejectionOf(read(document))).toMatchObject({ kind: 'invalid', field: 'backup' });
    }
  });
});

describe('a backup in which two things contradict each other', () => {
  const [first] = ofOpenBao;
  const { policy, ...rest } = documentOf(first?.backup ?? '');

  it.each<[string, Members]>([
    ['14, which contradicts its parameter set "44"', { type: 14, ParameterSet: '44' }],
    ['12, which contradicts its parameter set "87"', { ParameterSet: '87' }],
    ['12, which contradicts its type name "mldsa-87"', { ParameterSet: { name: 'mldsa-87' } }],
    [
      '12, which contradicts its type name "ml-dsa"',
      { ParameterSet: { name: 'ml-dsa', parameter_set: '65' } },
    ],
    ['12, which contradicts its type name "aes128-cmac"', { ParameterSet: { name: 'aes128-cmac' } }],
    ['0, which contradicts its type name "ml-dsa-44"', { type: 0, ParameterSet: { name: 'ml-dsa-44' } }],
  ])('is refused: the number %s', async (words, members) => {
    const document = { ...rest, policy: { ...(policy as Members), ...members } };
    expect(await rejectionOf(read(document))).toMatchObject({
      kind: 'unsupported',
      message: `backup has the key type ${words}`,
      field: 'backup',
    });
  });

  it('is taken where they agree', async () => {
    const document = { ...rest, policy: { ...(policy as Members), ParameterSet: '44' } };
    expect(await read(document)).toMatchObject({ type: 'ml-dsa-44' });
  });
});
