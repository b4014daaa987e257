import { expect } from 'vitest';
import { CofferError } from '../src/ground/errors.ts';

export interface Refusal {
  readonly kind: string;
  readonly message: string;
  readonly field: string | undefined;
}

const of = (error: unknown): Refusal => {
  expect(error).toBeInstanceOf(CofferError);
  const { kind, message, field } = error as CofferError;
  return { kind, message, field };
};

/** What a call is refused with. */
export function refusal(call: () => unknown): Refusal {
  try {
    call();
  } catch (error) {
    return of(error);
  }
  throw new Error('it was not refused');
}

/** What a promise is refused with. */
export async function refused(call: Promise<unknown>): Promise<Refusal> {
  let error: unknown;
  try {
    await call;
  } catch (thrown) {
    error = thrown;
  }
  if (error === undefined) throw new Error('it was not refused');
  return of(error);
}
