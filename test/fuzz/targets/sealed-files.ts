import { examineBackend } from '../../../src/store/administration/repair.ts';
import type { Backend, BlobRef } from '../../../src/store/backends/backend.ts';
import { MemoryBackend } from '../../../src/store/backends/memory.ts';
import { parseChecked, printChecked } from '../../../src/store/checked-json.ts';
import { openBackend } from '../../../src/store/open.ts';
import type { Chance } from '../../chance.ts';
import { shorterBytes, spoiledBytes } from '../mutation.ts';
import { type Credentials, fillSample, readAll, sampleContent } from '../sample-store.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';
import { spoiledDeeply } from '../values.ts';

/** One file of a store has other content than was written. */
interface Damage {
  /** Undefined for the header. */
  readonly ref: BlobRef | undefined;
  /** Undefined: it is gone. */
  readonly bytes: Buffer | undefined;
  /** The content has a right checksum, as somebody would give it who knows the format. */
  readonly checked: boolean;
  readonly opens: keyof Credentials;
}

/** Passphrases take a hundred times longer than keys. */
const PASSPHRASE_ONE_IN = 400;

interface Original {
  readonly ref: BlobRef | undefined;
  readonly bytes: Buffer;
}

async function open(_chance: Chance, secrets: Secrets): Promise<World<Damage>> {
  const { content, credentials } = await sampleContent(secrets, true);
  const backend = await MemoryBackend.create(content);
  const store = await openBackend(backend, credentials.key);
  await fillSample(store, secrets);
  store.close();
  const originals = await originalsIn(backend);
  return {
    generate: (chance) => generate(chance, originals),
    check: (damage) => check(damage, backend, credentials, originals, secrets),
    print: ({ bytes, ...rest }) => `${JSON.stringify(rest)} ${bytes?.toString('hex')}`,
    *simpler(damage) {
      if (damage.bytes === undefined || damage.checked) return;
      for (const bytes of shorterBytes(damage.bytes)) yield { ...damage, bytes };
    },
    async close() {
      const whole = await openBackend(backend, credentials.key);
      if ((await readAll(whole, secrets)) > 0) throw new Defect('the store itself was damaged');
    },
  };
}

async function originalsIn(backend: Backend): Promise<Original[]> {
  const { generation } = await backend.state();
  const originals: Original[] = [{ ref: undefined, bytes: Buffer.from(await backend.header()) }];
  for (const area of ['slots', 'documents'] as const) {
    for (const name of await backend.names(generation, area)) {
      const ref = { area, name };
      originals.push({ ref, bytes: Buffer.from((await backend.read(generation, ref)) ?? []) });
    }
  }
  return originals;
}

function generate(chance: Chance, originals: readonly Original[]): Damage {
  const { ref, bytes } = chance.pick(originals);
  const all = originals.map((original) => original.bytes);
  const base = {
    ref,
    checked: false,
    opens: chance.oneIn(PASSPHRASE_ONE_IN) ? 'passphrase' : 'key',
  } as const;
  const body = ref?.area === 'documents' ? undefined : parseChecked(bytes);
  if (body?.['kind'] === 'passphrase' && chance.oneIn(16)) {
    const bytes = rechecked({ ...body, kdf: spoiledDeeply(chance, body['kdf']) });
    return { ref, checked: true, opens: 'passphrase', bytes };
  }
  if (body !== undefined && chance.oneIn(2)) {
    return { ...base, checked: true, bytes: rechecked(spoiledDeeply(chance, body)) };
  }
  if (chance.oneIn(30)) return { ...base, bytes: undefined };
  return {
    ...base,
    bytes: chance.oneIn(12) ? Buffer.from(chance.pick(all)) : spoiledBytes(chance, bytes, all),
  };
}

/** Other content under a right checksum. */
function rechecked(spoiled: unknown): Buffer {
  const isObject = typeof spoiled === 'object' && spoiled !== null && !Array.isArray(spoiled);
  const text = JSON.stringify(isObject ? spoiled : { spoiled }, printBig);
  const { checksum: _checksum, ...printable } = JSON.parse(text) as Record<string, unknown>;
  return printChecked({ ...printable, more: 1 });
}

const printBig = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : value;

async function check(
  { ref, bytes, checked, opens }: Damage,
  backend: Backend,
  credentials: Credentials,
  originals: readonly Original[],
  secrets: Secrets,
): Promise<void> {
  const damaged = withDamage(backend, ref, bytes);
  const isSame = originals.some((one) => sameRef(one.ref, ref) && bytes?.equals(one.bytes));
  const opened = await secrets.outcome(() => openBackend(damaged, credentials[opens]));
  let refusals = 'refused' in opened ? 1 : 0;
  if ('value' in opened) refusals += await readAll(opened.value, secrets);
  if (isSame && refusals > 0) throw new Defect('a whole store is refused');
  if (opens === 'passphrase') return;
  const examined = await secrets.outcome(() => examineBackend(damaged, credentials.key));
  if ('refused' in examined) return;
  const { findings } = examined.value;
  for (const { file, reason } of findings) secrets.examine(`${file} ${reason}`, 'a finding');
  if (!isSame && !checked && findings.length === 0) throw new Defect('the damage is not found');
}

const sameRef = (a: BlobRef | undefined, b: BlobRef | undefined): boolean =>
  a?.area === b?.area && a?.name === b?.name;

/** The same store, but for one file. */
function withDamage(backend: Backend, ref: BlobRef | undefined, bytes: Buffer | undefined): Backend {
  const isIt = (other: BlobRef): boolean => ref !== undefined && sameRef(ref, other);
  return {
    place: backend.place,
    headerPlace: backend.headerPlace,
    witness: backend.witness,
    locate: (generation, other) => backend.locate(generation, other),
    header: async () => (ref === undefined ? (bytes ?? Buffer.alloc(0)) : backend.header()),
    state: () => backend.state(),
    read: async (generation, other) => (isIt(other) ? bytes : backend.read(generation, other)),
    has: async (generation, other) => (isIt(other) ? bytes !== undefined : backend.has(generation, other)),
    async names(generation, area) {
      const names = await backend.names(generation, area);
      return bytes === undefined ? names.filter((name) => !isIt({ area, name })) : names;
    },
    strays: () => backend.strays(),
    flaws: () => backend.flaws(),
    repair: () => Promise.reject(new Error('nobody writes here')),
    exclusive: () => Promise.reject(new Error('nobody writes here')),
    close: () => undefined,
  };
}

export const sealedFiles = target<Damage>({ name: 'sealed-files', cases: 3_000, open });
