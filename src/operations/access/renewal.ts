import type { Call, Outcome } from '../declaration/operation.ts';
import { duration } from '../declaration/params.ts';
import { type TokenAuth, tokenAuth } from './token-answers.ts';
import type { Target } from './token-target.ts';

export const incrementParam = duration({
  help: 'How long it is to live from now on; by default as long as when it was created.',
  cli: { metavar: 'D' },
});

/** Renews a token and answers as peers do: the `auth` object, with the token itself only for who gave it. */
export async function renewToken(call: Call, target: Target, increment = 0): Promise<Outcome<TokenAuth>> {
  const { tokens } = await call.core.access();
  const renewed = await tokens.renew(target.record.accessor, increment);
  return {
    auth: tokenAuth(renewed, target.id, call.core.clock.now()),
    ...(renewed.warnings.length === 0 ? {} : { warnings: renewed.warnings }),
  };
}
