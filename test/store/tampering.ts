import { printPlace } from '../../src/ground/errors.ts';
import { examine } from '../../src/store/administration/repair.ts';
import type { Finding } from '../../src/store/administration/status.ts';
import type { BlobIdentity } from '../../src/store/root-key.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';

/** Puts other contents in the place of some, sealed with the keys of the store; undefined deletes what is there. */
export async function tamper(
  { backend, keyring }: SealedStore,
  ...contents: readonly (readonly [BlobIdentity, object | undefined])[]
): Promise<void> {
  await backend.exclusive(async (session) => {
    const root = await keyring.root(backend, session.version.generation);
    await session.commit(
      contents.map(([identity, content]) =>
        content === undefined
          ? { ref: root.refOf(identity), bytes: undefined }
          : root.seal(identity, JSON.stringify(content)),
      ),
    );
  });
}

/** What is wrong in a store that is open. */
export const findingsIn = async ({ backend, keyring }: SealedStore): Promise<readonly Finding[]> =>
  (await examine(backend, async () => keyring)).findings;

/** Where the content of an identity is, as findings say it. */
export async function placeIn({ backend, keyring }: SealedStore, identity: BlobIdentity): Promise<string> {
  const { generation } = await backend.state();
  const root = await keyring.root(backend, generation);
  return printPlace(backend.locate(generation, root.refOf(identity)));
}
