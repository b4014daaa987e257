import type { OfferedKeys, OfferedKeyVersion } from './keys.ts';
import { objectsOf, type TokenObject } from './objects.ts';
import type { ReturnName } from './return-values.ts';
import { Refused } from './return-values.ts';

/**
 * All offers as one token in one slot, the same for every program. Object handles are never reused; each search finds
 * the current offers.
 */
export class Pkcs11Token {
  readonly keys: OfferedKeys;
  #byHandle: ReadonlyMap<number, TokenObject> = new Map();
  #handles: ReadonlyMap<string, number> = new Map();
  #nextHandle = 1;
  /** Counters of searches; one that began earlier may end later. */
  #looks = 0;
  #taken = 0;
  /** Cached objects of the last versions. */
  #made: { readonly of: readonly OfferedKeyVersion[]; readonly objects: readonly TokenObject[] } | undefined;

  constructor(keys: OfferedKeys) {
    this.keys = keys;
  }

  /**
   * Finds all objects, by handle, in order.
   * @throws as `Keys.versions`
   */
  async look(): Promise<ReadonlyMap<number, TokenObject>> {
    const look = ++this.#looks;
    const objects = this.#objectsOf(await this.keys.versions());
    if (look > this.#taken) {
      this.#taken = look;
      this.#take(objects);
    }
    return this.#byHandle;
  }

  /**
   * Finds an object by handle.
   * @throws `Refused` with `missing` if it does not exist
   */
  object(handle: number, missing: ReturnName = 'objectHandleInvalid'): TokenObject {
    const object = this.#byHandle.get(handle);
    if (object === undefined) throw new Refused(missing);
    return object;
  }

  #objectsOf(versions: readonly OfferedKeyVersion[]): readonly TokenObject[] {
    const made = this.#made;
    const isSame =
      made?.of.length === versions.length && made.of.every((version, at) => isEqual(version, versions[at]));
    this.#made = made !== undefined && isSame ? made : { of: versions, objects: objectsOf(versions) };
    return this.#made.objects;
  }

  #take(objects: readonly TokenObject[]): void {
    const entries = objects.map((object) => {
      const handle = this.#handles.get(object.name) ?? this.#nextHandle++;
      return { handle, object };
    });
    this.#handles = new Map(entries.map(({ handle, object }) => [object.name, handle]));
    this.#byHandle = new Map(entries.map(({ handle, object }) => [handle, object]));
  }
}

/** Compares two versions; equal public keys are the same object here. */
function isEqual(one: OfferedKeyVersion, other: OfferedKeyVersion | undefined): boolean {
  if (other === undefined) return false;
  const names = Object.keys(one) as (keyof OfferedKeyVersion)[];
  return names.every((name) => one[name] === other[name]);
}
