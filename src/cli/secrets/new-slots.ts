import { unavailable } from '../../ground/errors.ts';
import type { CreatedSlot } from '../../store/slots/slot-kind.ts';
import type { Session } from '../session.ts';
import { printResult } from '../terminal/output.ts';
import { isRead } from '../terminal/streams.ts';
import type { PlannedSlot } from './slot-request.ts';

/**
 * Prints slots just made: with `-o json` a document, else the fresh keys and shares, one a line, which exist nowhere else.
 * @throws `unavailable` when nobody reads those: they are lost.
 * @param planned what they were made from, in the same order.
 * @param document made of the slots as JSON shows them.
 * @param said what happened, for the person.
 */
export async function printNewSlots(
  session: Session,
  planned: readonly PlannedSlot[],
  created: readonly CreatedSlot[],
  document: (slots: readonly object[]) => object | undefined,
  said: string,
): Promise<void> {
  const secrets = secretsOf(planned, created);
  const slots = created.map((slot, index) => slotJson(planned[index], slot));
  const wasRead =
    session.settings.format === 'json'
      ? await printResult(session, document(slots), {})
      : isRead(() => session.streams.out.write(secrets.map((secret) => `${secret}\n`).join('')));
  session.say(said);
  if (secrets.length === 0) return;
  if (!wasRead) {
    throw unavailable('nobody has read what was printed: the fresh keys and shares are lost', {
      hint: 'remove their slots, and make others',
    });
  }
  session.say(
    'Keep what is printed here safe, and apart from the store: it is shown this once, and kept nowhere.',
  );
}

const secretsOf = (planned: readonly PlannedSlot[], created: readonly CreatedSlot[]): readonly string[] =>
  created.flatMap((slot, index) => [
    ...(planned[index]?.freshKey === undefined ? [] : [planned[index].freshKey]),
    ...(slot.shareTexts ?? []),
  ]);

function slotJson(planned: PlannedSlot | undefined, { shareTexts, ...slot }: CreatedSlot): object {
  return {
    ...slot,
    ...(planned?.freshKey === undefined ? {} : { master_key: planned.freshKey }),
    ...(shareTexts === undefined ? {} : { share_texts: shareTexts }),
  };
}
