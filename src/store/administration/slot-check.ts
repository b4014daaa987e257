import { printPlace } from '../../ground/errors.ts';
import { LIST_LOST } from '../refusals.ts';
import type { Keyring } from '../slots/keyring.ts';
import type { Slot } from '../slots/slot-file.ts';
import { compareSlotFiles, type ListedSlot, SLOT_LIST, type SlotFile } from '../slots/slot-list.ts';
import { type Finding, findingOf } from './status.ts';
import type { Survey } from './survey.ts';

/** Slot whose file matches the list of slots. */
export interface SoundSlot {
  readonly listed: ListedSlot;
  readonly slot: Slot;
}

export interface SlotCheck {
  /** Problems of the slots, except a damaged list of slots. */
  readonly findings: readonly Finding[];
  /** Intact slots. Without the list: only the slot that unlocked the store. */
  readonly sound: readonly SoundSlot[];
  /** Whether a lost list can be rebuilt: it can only have contained the slot that unlocked the store. */
  readonly listCanBeMade: boolean;
}

/** Compares the slot files with the list of slots of a surveyed store. */
export function checkSlots(survey: Survey, files: readonly SlotFile[], keyring: Keyring): SlotCheck {
  const { slotList, root, locate } = survey;
  if (slotList !== undefined) {
    const problems = compareSlotFiles(files, slotList.slots, locate);
    const wrong = new Set(problems.map(({ id }) => id));
    return {
      findings: problems.map(({ place, problem }) => findingOf(place, problem)),
      sound: soundSlots(slotList.slots, files).filter(({ listed }) => !wrong.has(listed.id)),
      listCanBeMade: false,
    };
  }
  const list = root.refOf(SLOT_LIST);
  const missing: Finding = { file: printPlace(locate(list)), reason: 'is missing', hint: LIST_LOST };
  const broken = files.flatMap(({ place, problem }) =>
    problem === undefined ? [] : [findingOf(place, problem)],
  );
  const own = files.flatMap(({ slot }) => (slot?.id === keyring.slotId ? [keyring.listedSlot(slot)] : []));
  return {
    findings: survey.present.has(list.name) ? broken : [missing, ...broken],
    sound: soundSlots(own, files),
    listCanBeMade: files.length === 1 && own.length === 1,
  };
}

const soundSlots = (listed: readonly ListedSlot[], files: readonly SlotFile[]): SoundSlot[] =>
  listed.flatMap((one) => files.flatMap(({ slot }) => (slot?.id === one.id ? [{ listed: one, slot }] : [])));
