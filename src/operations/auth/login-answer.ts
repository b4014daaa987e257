import type { IssuedToken } from '../../access/tokens.ts';
import type { Outcome } from '../declaration/operation.ts';
import { type TokenAuth, tokenAuth } from './token-answers.ts';

/** Formats the response of every login. */
export const loginAnswer = (issued: IssuedToken): Outcome<TokenAuth> => ({
  // Shown as of its creation, because clients compare the time with that of the role.
  auth: tokenAuth(issued, issued.text),
  warnings: issued.warnings.length === 0 ? undefined : issued.warnings,
});
