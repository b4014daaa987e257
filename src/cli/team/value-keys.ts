import type { KeyringConnection } from '../../client/keyring-agent.ts';
import { wipe } from '../../ground/bytes.ts';
import { conflict } from '../../ground/errors.ts';
import { madeOnce } from '../../ground/objects.ts';
import { systemRandom } from '../../ground/random.ts';
import type { SentOpening, ValueToOpen } from '../../service/agent/keyring-calls.ts';
import { openWithAny, sealValue } from '../../team/cipher.ts';
import type { VersionFact } from '../../team/fact.ts';
import type { JudgedVersion } from '../../team/judge/judge.ts';
import { openMaterial } from '../../team/roots.ts';
import type { FoundValue, OpenValue } from './found-values.ts';
import type { TeamKeyring } from './keyring.ts';
import { usableRoot } from './own-keys.ts';

/** Text that a version of a key has opened. */
interface OpenedBytes {
  readonly version: JudgedVersion;
  readonly bytes: Buffer;
}

/** Value, with the versions that it is tried with. */
interface ValueAndVersions {
  readonly versions: readonly JudgedVersion[];
  readonly value: FoundValue;
}

/** Uses the key material of versions, wherever the root keys are. */
export interface ValueKeys {
  /** Called with the values that will be opened, so that they may be opened together. */
  prepare?(values: readonly ValueAndVersions[]): Promise<void>;
  /**
   * Decrypts a value with each of several versions.
   * @returns what was opened, and whether there was the material of any version
   */
  open(
    versions: readonly JudgedVersion[],
    value: FoundValue,
  ): Promise<{ readonly opened: readonly OpenedBytes[]; readonly isKnown: boolean }>;
  /**
   * Encrypts values.
   * @returns payloads
   * @throws `denied` or `conflict` if nothing may be encrypted with the version
   */
  seal(version: VersionFact, values: readonly OpenValue[]): Promise<readonly string[]>;
}

/**
 * Opens values with the root keys of a keyring, which this command opens with the user's own private keys.
 * @param atEnd registers the wiping of key material
 */
export function openedValueKeys(keyring: TeamKeyring, atEnd: (work: () => void) => void): ValueKeys {
  const materials = new Map<string, Buffer>();
  /** Material of the versions to encrypt with, which may be requested at once for thousands of values. */
  const fit = new Map<string, Promise<Buffer>>();
  atEnd(() => wipe(...materials.values()));
  const materialOf = async ({ id, version }: VersionFact): Promise<Buffer | undefined> => {
    const known = materials.get(id);
    if (known !== undefined) return known;
    const { roots, state } = keyring;
    const root = await roots.open(version.under);
    // Another value may have needed it meanwhile: each material is kept once, and wiped at the end.
    const other = materials.get(id);
    if (root === undefined || other !== undefined) return other;
    const material = openMaterial(root, state.store, version);
    if (material !== undefined) materials.set(id, material);
    return material;
  };
  return {
    async open(versions, { name, value }) {
      const { opened, known } = await openWithAny(versions, ({ fact }) => materialOf(fact), {
        name,
        payload: value.payload,
      });
      return { opened, isKnown: known.length > 0 };
    },
    async seal(version, values) {
      const material = await madeOnce(fit, version.id, async () => {
        await usableRoot(keyring, version.version.under);
        const found = await materialOf(version);
        if (found !== undefined) return found;
        throw conflict(`.coffer/${version.path} is damaged: its content cannot be decrypted`);
      });
      return values.map(({ name, source }) => sealValue(material, name, source, systemRandom));
    },
  };
}

/** Has an agent use the root keys that it keeps, and uses this command's own for others. */
export function keptValueKeys(agent: KeyringConnection, otherwise: ValueKeys): ValueKeys {
  /** Answers to values that were opened together. */
  const answers = new Map<FoundValue, SentOpening>();
  return {
    async prepare(values) {
      const opened = await agent.open(values.map(sent));
      for (const [index, { value }] of values.entries()) {
        const answer = opened[index];
        if (answer !== undefined) answers.set(value, answer);
      }
    },
    async open(versions, value) {
      const [answer] = [answers.get(value) ?? (await agent.open([sent({ versions, value })]))].flat();
      // The user's keys are not needed for a version that is not valid.
      const isLacking = versions.some(({ isValid }, at) => isValid && answer?.known.includes(at) !== true);
      if (answer === undefined || isLacking) return otherwise.open(versions, value);
      const opened = answer.opened.flatMap(({ at, bytes }) => {
        const version = versions[at];
        return version === undefined ? [] : [{ version, bytes: Buffer.from(bytes, 'base64') }];
      });
      return { opened, isKnown: answer.known.length > 0 };
    },
    seal: async (version, values) =>
      (await agent.seal({ version: version.version, values })) ?? otherwise.seal(version, values),
  };
}

const sent = ({ versions, value }: ValueAndVersions): ValueToOpen => ({
  versions: versions.map(({ fact }) => fact.version),
  name: value.name,
  payload: value.value.payload,
});
