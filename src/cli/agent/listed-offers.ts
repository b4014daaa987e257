import type { Offer } from '../../access/doors.ts';
import { isObject } from '../../ground/objects.ts';
import { type Runner, resultOf } from '../../operations/declaration/operation.ts';

/** Offered key, and the protocol that it is offered through. */
interface ListedOffer extends Offer {
  readonly door: string;
}

/** Returns the keys offered through all protocols. */
export async function listedOffers(runner: Runner): Promise<readonly ListedOffer[]> {
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
