import { invalid } from '../ground/errors.ts';

/** A service token is stored, and can be renewed and revoked; a batch token is not, and can't. */
export type TokenKind = 'service' | 'batch';

/** What a mount or a token role says of its tokens: the defaults leave it to whoever asks. */
export const KIND_RULES = ['default-service', 'default-batch', 'service', 'batch'] as const;
export type KindRule = (typeof KIND_RULES)[number];

export const isKindRule = (word: unknown): word is KindRule => KIND_RULES.some((rule) => rule === word);

/** The kind by a rule, and what was asked for where it leaves a choice. */
export function kindBy(rule: KindRule, asked: TokenKind | undefined): TokenKind {
  if (rule === 'service' || rule === 'batch') return rule;
  return asked ?? (rule === 'default-batch' ? 'batch' : 'service');
}

/**
 * Refuses what only tokens have that lie somewhere.
 * @throws `invalid` in the words of the family.
 */
export function checkBatchTerms(terms: {
  readonly explicitMaxTtl?: number;
  readonly numUses: number;
  readonly period: number;
}): void {
  if ((terms.explicitMaxTtl ?? 0) !== 0) throw cannotHave('explicit_max_ttl');
  if (terms.numUses !== 0) throw cannotHave('num_uses');
  if (terms.period !== 0) throw cannotHave('period');
}

const cannotHave = (field: string) => invalid(`batch tokens cannot have "${field}" set`, { field });
