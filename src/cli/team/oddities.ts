import type { CardFact, Fact } from '../../team/fact.ts';
import { bestVersion, givenTo, type Judgement, keyNames, nameOf } from '../../team/judge/judge.ts';
import type { Session } from '../session.ts';

/** Warnings of what has no effect in a keyring. */

/** Formats the names of the persons that a removal removes. */
export const namesOut = (fact: Pick<Fact, 'without'>): string => namesOf(fact).join(', ');

const namesOf = ({ without }: Pick<Fact, 'without'>): readonly string[] => [
  ...new Set(without.map(({ name }) => name)),
];

const removed = new WeakMap<Judgement, ReadonlyMap<string, string>>();

/** Formats whom a removal removes; of one who has other keys left then, only a key. */
export function peopleOut(state: Judgement, fact: Fact): string {
  const known = removed.get(state) ?? everyRemoval(state);
  removed.set(state, known);
  return known.get(fact.id) ?? namesOut(fact);
}

/** Goes through all facts once: anyone who can push can add thousands of removals. */
function everyRemoval({ line, valid }: Judgement): ReadonlyMap<string, string> {
  const cards = new Map<string, Set<string>>();
  const said = new Map<string, string>();
  for (const fact of line) {
    const { id, card, without } = fact;
    if (card !== undefined) cards.set(card.name, (cards.get(card.name) ?? new Set()).add(id));
    if (without.length === 0) continue;
    const left = new Map(namesOf(fact).map((name) => [name, cards.get(name)?.size ?? 0]));
    for (const out of without)
      if (cards.get(out.name)?.has(out.id)) left.set(out.name, (left.get(out.name) ?? 0) - 1);
    const words = namesOf(fact).map((name) => ((left.get(name) ?? 0) > 0 ? `a key of ${name}` : name));
    said.set(id, words.join(', '));
    if (valid.has(id)) for (const out of without) cards.get(out.name)?.delete(out.id);
  }
  return said;
}

/** Formats who removed whom. */
export const tell = (state: Judgement, fact: Fact): string =>
  `${nameOf(state, fact.by)} removed ${peopleOut(state, fact)}`;

/** Maximum number of warnings of one kind: anyone who can push can add thousands of files. */
const MOST_WARNINGS = 10;

/** Prints warnings of one kind: of many, the first ones and their number. */
export function warnOf(session: Session, texts: readonly string[]): void {
  const all = [...new Set(texts)];
  for (const text of all.slice(0, MOST_WARNINGS)) session.warn(text);
  const more = all.length - MOST_WARNINGS;
  if (more > 0) session.warn(`${more} more like this (see "coffer team check" and "coffer team log")`);
}

/** Prints warnings of one kind about facts, and returns those whose warnings were printed. */
function warnOfEach<F extends Fact>(
  session: Session,
  facts: readonly F[],
  textOf: (fact: F) => string,
): readonly F[] {
  warnOf(session, facts.map(textOf));
  return session.settings.quiet ? [] : facts.slice(0, MOST_WARNINGS);
}

/** Describes files that are not facts. */
export const ignoredFiles = (files: ReadonlyMap<string, string>): readonly string[] =>
  [...files].map(([path, why]) => `.coffer/${path} ${why}: the file is ignored`);

/**
 * Warns of files that are no facts, and of facts without effect.
 * @param isMeant filter of the facts without effect
 * @returns the facts whose warnings the user has seen: not with `--quiet`, and of many only the first
 */
export function sayOddities(
  session: Session,
  state: Judgement,
  isMeant: (fact: Fact) => boolean,
): readonly Fact[] {
  warnOf(session, ignoredFiles(state.refused));
  const undone = state.undone.filter(isMeant);
  const tellUndone = (fact: Fact): string =>
    `ignored, because ${nameOf(state, fact.by)} was removed at the same time: ${tell(state, fact)} ` +
    `(to remove ${fact.without[0]?.name} anyway, run "coffer team remove ${fact.without[0]?.name}")`;
  const undoneTold = warnOfEach(session, undone, tellUndone);
  const caught = state.caught.filter(isMeant);
  const tellCaught = ({ card, by }: CardFact): string =>
    `ignored: ${nameOf(state, by)} added ${card.name} again, but did not know of the removal ` +
    `(to add ${card.name} anyway, run "coffer team add ${card.name}" again)`;
  return [...undoneTold, ...warnOfEach(session, caught, tellCaught)];
}

/* What a merge or an interrupted removal has left open, which an admin completes with `coffer team settle`. */

export const WORK_IS_LEFT = 'A merge or a removal is not complete. An admin must run "coffer team settle".';

/** Whether a member does not have the present root keys. */
export const isWaiting = (state: Judgement, { id }: Pick<CardFact, 'id'>): boolean =>
  state.believed.some((epoch) => !givenTo(state, epoch.id).has(id));

/** Whether there is no root key that only the team has, or a key lacks a version under one. */
export const isUnfinished = (state: Judgement): boolean =>
  state.believed.length === 0 || keyNames(state).some((name) => bestVersion(state, name) === undefined);
