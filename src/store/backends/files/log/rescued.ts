import { type CofferError, corrupt, placed, type Text } from '../../../../ground/errors.ts';
import type { Area, BlobRef, Version } from '../../backend.ts';
import type { Layout } from '../layout.ts';
import { isOfThisBoot } from './boot.ts';
import { damagedBlob, REPAIR_LOG } from './log.ts';
import type { LoggedBlob } from './log-file.ts';
import { blobsOf, isPiece, keyOf, type LostPart, Salvage, type Salvaged } from './salvage.ts';

/**
 * What readers are shown of a damaged log: each blob as it was acknowledged last. A document of which the damaged part
 * may have a newer content is refused.
 */
class Rescued {
  /** Version that is shown. */
  readonly version: Version;
  readonly #layout: Layout;
  /** Last content of each blob that the log has, unless that may have been changed since. */
  readonly #known = new Map<string, Salvaged>();
  /** Last part that cannot be read at all: it may have changed every document that is not known. */
  readonly #loss: LostPart | undefined;
  readonly #present: Readonly<Record<Area, Map<string, boolean>>> = {
    slots: new Map(),
    documents: new Map(),
  };

  constructor(layout: Layout, storeId: Uint8Array, state: Version) {
    const { generation } = state;
    // After a power failure the state's name may be an old one.
    const takes = ({ boot }: { readonly boot: Uint8Array }): boolean => !isOfThisBoot(boot);
    const salvage = new Salvage(layout, storeId, { state, generation, takes });
    this.version = { generation, revision: salvage.revision };
    this.#layout = layout;
    this.#loss = salvage.losses.at(-1);
    for (const part of salvage.parts) {
      if (isPiece(part)) {
        for (const blob of blobsOf(part)) {
          this.#known.set(keyOf(blob.ref), blob);
          this.#present[blob.ref.area].set(blob.ref.name, blob.bytes !== undefined);
        }
      } else {
        // Slots are shown as they were known last: without them nothing of the store could be read.
        for (const [key, { ref }] of this.#known) if (ref.area === 'documents') this.#known.delete(key);
      }
    }
  }

  /** Whether any document is known to be up to date. */
  get showsAny(): boolean {
    return this.#loss === undefined || [...this.#known.values()].some(({ ref }) => ref.area === 'documents');
  }

  /**
   * Returns what the log says about a blob; undefined if that is in the documents.
   * @throws `corrupt` if its last content cannot be read, or may be in a part that cannot be read
   */
  find(ref: BlobRef): LoggedBlob | undefined {
    const known = this.#known.get(keyOf(ref));
    if (known?.isIntact === true) return { bytes: known.bytes };
    if (known !== undefined) {
      const { path, offset } = known.piece;
      throw damagedBlob(this.#placeOf(ref), path, offset);
    }
    if (this.#loss === undefined || ref.area === 'slots') return undefined;
    throw corrupt(
      placed`${this.#placeOf(ref)} may be out of date: ${lostIn(this.#loss)}, and newer content may be lost`,
      { hint: REPAIR_LOG },
    );
  }

  /** Yields the names of an area that the log puts or deletes, as far as that can be read. */
  names(area: Area): Iterable<readonly [name: string, isThere: boolean]> {
    return this.#present[area];
  }

  /** Returns the error for names that are only in a part that cannot be read; undefined if all names are known. */
  unlisted(area: Area): CofferError | undefined {
    if (this.#loss === undefined || area === 'slots') return undefined;
    const place = { file: this.#layout.area(this.version.generation, area) };
    return corrupt(
      placed`${place} may be incomplete: ${lostIn(this.#loss)}, and more documents may be lost`,
      {
        hint: REPAIR_LOG,
      },
    );
  }

  #placeOf(ref: BlobRef): { readonly file: string } {
    return { file: this.#layout.blob(this.version.generation, ref) };
  }
}

const lostIn = ({ path, offset }: LostPart): Text =>
  offset === undefined
    ? placed`${{ file: path }} is missing`
    : placed`${{ file: path }} is damaged at offset ${offset}`;

/** Returns what can be shown of a damaged log; undefined if nothing of the store is known to be up to date. */
export function rescue(layout: Layout, storeId: Uint8Array, state: Version): Rescued | undefined {
  const rescued = new Rescued(layout, storeId, state);
  return rescued.showsAny ? rescued : undefined;
}
