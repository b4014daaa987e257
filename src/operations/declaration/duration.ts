import { type Declared, declare, type OfDuration, type Spec } from './params.ts';
import { parseDurationSeconds } from './weak-values.ts';

/** Declares a duration with a parser of its own, like `declare`. */
export function declareDuration<T extends number | undefined, S extends Spec<T>>(
  spec: S,
  parse: (value: unknown, field: string) => T,
): Declared<T, S> & OfDuration {
  const { schema, ...declared } = declare<T, S>(spec, { type: 'string' }, parse);
  const usual = spec.default === undefined ? undefined : `${spec.default}s`;
  return { ...declared, schema: { ...schema, format: 'duration', default: usual } };
}

/**
 * Duration in seconds: a number, digits, `24h`, `1h30m`, `7d`. Never negative, and never longer than Go's maximum. As
 * in Vault, `null` means absent.
 */
export function duration<const S extends Spec<number>>(spec: S): Declared<number, S> & OfDuration {
  const { cli, ...declared } = declareDuration<number, S>(spec, parseDurationSeconds);
  return { ...declared, cli: { metavar: 'D', ...cli }, nullIsAbsent: true };
}
