import type { Offer } from '../../access/doors.ts';
import type { AgentDoorKind, OfferedKeyData } from '../../doors/agent/agent-door.ts';
import { unsupported } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { type Runner, resultOf } from '../../operations/declaration/operation.ts';

/** Returns the keys offered through all protocols. */
export async function listedOffers(runner: Runner): Promise<readonly (Offer & { readonly door: string })[]> {
  const data = resultOf(await runner.run('doors list', {}));
  const doors = isObject(data) && isObject(data['doors']) ? data['doors'] : {};
  return Object.entries(doors).flatMap(([door, offers]) =>
    Array.isArray(offers)
      ? offers.filter(isObject).map((offer) => ({
          door,
          mount: String(offer['mount']),
          key: String(offer['key']),
          uses: Array.isArray(offer['uses']) ? offer['uses'].map(String) : [],
          confirm: offer['confirm'] === true,
        }))
      : [],
  );
}

/**
 * Checks that a key exists and that the protocols can use it.
 * @throws `not-found` if it does not exist; `unsupported` if a protocol cannot use keys of its type
 */
export async function checkKey(runner: Runner, kinds: readonly AgentDoorKind[], key: string): Promise<void> {
  const data = resultOf(await runner.run('transit keys read', { name: key }));
  const told = isObject(data) ? data : {};
  const name = String(told['type']);
  const { encryptsData, keyTypeNamed, keyTypesIn } = await import('../../transit/key-types/index.ts');
  const type = keyTypeNamed(name);
  const facts: OfferedKeyData = {
    type: name,
    derived: told['derived'] === true,
    encryptsData: type !== undefined && encryptsData(type),
    typesIn: keyTypesIn,
  };
  for (const kind of kinds) {
    const why = kind.refusal(facts);
    if (why !== undefined)
      throw unsupported(`${key} cannot be offered to ${kind.name}: ${why}`, { field: 'key' });
  }
}
