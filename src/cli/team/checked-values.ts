import { wipe } from '../../ground/bytes.ts';
import type { Session } from '../session.ts';
import type { FoundValue } from './found-values.ts';
import type { TeamKeyring } from './keyring.ts';
import { notBelieved, versionsOf } from './team-keys.ts';
import { openedValueKeys } from './value-keys.ts';

/** Value that commands refuse. */
interface RefusedValue {
  readonly value: FoundValue;
  /** Why; undefined if the keyring cannot decrypt it. */
  readonly why: string | undefined;
}

/**
 * Returns the values that a keyring cannot decrypt: its keys have other names, or the user has the versions that are
 * named and none decrypts it. Also those that it decrypts and commands refuse, as removed members may have written them.
 */
export async function refusedValues(
  session: Session,
  keyring: TeamKeyring,
  values: readonly FoundValue[],
): Promise<readonly RefusedValue[]> {
  const keys = openedValueKeys(keyring, (work) => session.atEnd(work));
  const refused: RefusedValue[] = [];
  for (const value of values) {
    const versions = versionsOf(keyring, value);
    const { opened, isKnown } = await keys.open(versions, value);
    for (const { bytes } of opened) wipe(bytes);
    const isNamed = keyring.state.versions.has(value.value.key);
    if (!isNamed || (isKnown && opened.length === 0)) {
      refused.push({ value, why: undefined });
      continue;
    }
    // Whoever cannot open the value knows of it if removed members had all versions of this number.
    const named = isKnown ? opened.map(({ version }) => version) : versions;
    const [first] = named;
    if (first !== undefined && !named.some(({ isBelieved }) => isBelieved))
      refused.push({ value, why: notBelieved(keyring, first, value).message });
  }
  return refused;
}
