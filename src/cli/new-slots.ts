import type { CreatedSlot } from '../store/slots/slot-kind.ts';
import { printResult } from './output.ts';
import type { Session } from './session.ts';
import type { PlannedSlot } from './slot-request.ts';

/**
 * Prints slots just made: with `-o json` a document, else the fresh keys and shares, one a line, which exist nowhere else.
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
  if (session.settings.format === 'json') {
    const slots = created.map((slot, index) => slotJson(planned[index], slot));
    await printResult(session, document(slots), {}, { file: undefined, keepBase64: true });
  } else {
    for (const secret of secrets) session.streams.out.write(`${secret}\n`);
  }
  session.say(said);
  if (secrets.length === 0) return;
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
