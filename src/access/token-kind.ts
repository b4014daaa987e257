import { invalid } from '../ground/errors.ts';

/** Token type: a service token is stored, and can be renewed and revoked; a batch token cannot. */
export type TokenKind = 'service' | 'batch';

/** Token type setting of a mount or token role: the defaults leave the choice to the request. */
const KIND_RULES = ['default-service', 'default-batch', 'service', 'batch'] as const;
export type KindRule = (typeof KIND_RULES)[number];

export const isKindRule = (word: unknown): word is KindRule => KIND_RULES.some((rule) => rule === word);

/** Returns the token type by a setting, and by the request if the setting leaves the choice. */
export function kindBy(rule: KindRule, asked: TokenKind | undefined): TokenKind {
  if (rule === 'service' || rule === 'batch') return rule;
  return asked ?? (rule === 'default-batch' ? 'batch' : 'service');
}

/**
 * Refuses terms that only stored tokens can have.
 * @throws `invalid` with Vault's messages
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
