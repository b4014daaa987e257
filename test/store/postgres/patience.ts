import { onTestFinished } from 'vitest';
import { PATIENCE } from '../../../src/store/backends/postgres/connection.ts';

type Limits = { -readonly [K in keyof typeof PATIENCE]: number };

/** What the sources look up whenever something begins to be waited for. */
const limits: Limits = PATIENCE;
const usual: Readonly<Limits> = { ...PATIENCE };

/** From here to the end of the running test this process waits less long for these; of others for as long as it usually does. */
export function shorten(some: Partial<Limits>): void {
  onTestFinished(beUsual);
  Object.assign(limits, usual, some);
}

/**
 * Everything is given a tenth of its time. For after the preparation, which may take longer on a busy machine; and before the servers
 * start, as the limits are part of what a connection has prepared.
 */
export function beImpatient(): void {
  shorten(Object.fromEntries(Object.entries(usual).map(([name, milliseconds]) => [name, milliseconds / 10])));
}

/** From here on this process waits as long as it usually does. */
export function beUsual(): void {
  Object.assign(limits, usual);
}
