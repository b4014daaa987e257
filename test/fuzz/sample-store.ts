import { isDeepStrictEqual } from 'node:util';
import { printPlace } from '../../src/ground/errors.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { newStore } from '../../src/store/administration/init.ts';
import { listSlots } from '../../src/store/administration/slots.ts';
import type { Backend, InitialContent } from '../../src/store/backends/backend.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import type { Credential } from '../../src/store/slots/unlock.ts';
import type { DocumentRef } from '../../src/store/store.ts';
import type { Secrets } from './secrets.ts';
import { Defect } from './target.ts';

/** A small store whose content is known, for what damages it and looks what can still be read. */

const CLOCK = { now: () => 1_772_352_000_500 };
const SECRET = 'Gf3zTq8vLx5mWk2pNr7bHy4c';
const PASSPHRASE = 'Qj6wXd9kBz3tMv8nRp1gLs5f';

const DOCUMENTS: readonly (DocumentRef & { readonly value: object })[] = [
  { collection: 'things', id: 'one', value: { secret: `${SECRET}-1` } },
  { collection: 'things', id: 'two', value: { secret: `${SECRET}-2`, list: [1, 2, 3] } },
  { collection: 'others', id: 'solo', value: { secret: `${SECRET}-3`, text: 'x'.repeat(300) } },
];

export interface Credentials {
  readonly key: readonly Credential[];
  readonly passphrase: readonly Credential[];
}

/** A store without documents, and what opens it. @param slow it has a passphrase too, which takes a tenth of a second. */
export async function sampleContent(
  secrets: Secrets,
  slow: boolean,
): Promise<{ content: InitialContent; credentials: Credentials }> {
  const key = systemRandom.bytes(32);
  secrets.add('the master key', Buffer.from(key));
  secrets.add('the passphrase', PASSPHRASE);
  secrets.add('a document', SECRET);
  const reveal = (): Buffer => Buffer.from(key);
  const { content } = await newStore(
    [
      { kind: 'raw', key: Buffer.from(key) },
      ...(slow ? [{ kind: 'passphrase' as const, passphrase: PASSPHRASE }] : []),
    ],
    CLOCK,
    systemRandom,
  );
  return {
    content,
    credentials: {
      key: [{ kind: 'raw', source: 'the test key', reveal }],
      passphrase: [{ kind: 'passphrase', source: 'the test passphrase', reveal: () => PASSPHRASE }],
    },
  };
}

export async function fillSample(store: SealedStore, secrets: Secrets): Promise<void> {
  await store.transact((tx) => {
    for (const { value, ...ref } of DOCUMENTS) tx.put(ref, value);
  });
  const root = await store.keyring.root(store.backend, 1);
  secrets.add('the root key', root.export());
}

/** Where a file lies that a refusal has to name: any of the store's. */
const namesFile = (message: string, { place, headerPlace }: Backend): boolean =>
  message.includes(printPlace(place)) || message.includes(printPlace(headerPlace));

/**
 * Reads everything: what comes is what was stored, or a refusal that names a damaged file.
 * @returns how many reads were refused.
 */
export async function readAll(store: SealedStore, secrets: Secrets): Promise<number> {
  let refusals = 0;
  const attempt = async (read: () => Promise<unknown>, expected: unknown): Promise<void> => {
    const outcome = await secrets.outcome(read);
    if ('value' in outcome) {
      if (!isDeepStrictEqual(outcome.value, expected))
        throw new Defect(`read ${JSON.stringify(outcome.value)}`);
      return;
    }
    refusals++;
    const { kind, message } = outcome.refused;
    if (kind === 'corrupt' && !namesFile(message, store.backend))
      throw new Defect(`no file is named: ${message}`);
    if (kind !== 'corrupt' && kind !== 'unavailable') throw outcome.refused;
  };
  for (const { value, collection, id } of DOCUMENTS) {
    await attempt(() => store.read((view) => view.get({ collection, id })), value);
  }
  await attempt(() => store.read((view) => view.list('things')), ['one', 'two']);
  await attempt(() => store.read((view) => view.list('others')), ['solo']);
  await attempt(() => store.read((view) => view.list('nothing')), []);
  await attempt(async () => (await listSlots(store)).length > 0, true);
  return refusals;
}
