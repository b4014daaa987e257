import type { CardFact } from '../../team/fact.ts';
import { bestVersion, givenTo, type Judgement, keyNames } from '../../team/judge/judge.ts';

/* What a merge or an interrupted removal has left open, which an admin completes with `coffer team settle`. */

export const WORK_IS_LEFT = 'Work is left from a merge or a removal. An admin must run "coffer team settle".';

/** Whether a member does not have the present root keys. */
export const isWaiting = (state: Judgement, { id }: Pick<CardFact, 'id'>): boolean =>
  state.believed.some((epoch) => !givenTo(state, epoch.id).has(id));

/** Whether there is no root key that only the team has, or a key lacks a version under one. */
export const isUnfinished = (state: Judgement): boolean =>
  state.believed.length === 0 || keyNames(state).some((name) => bestVersion(state, name) === undefined);
