import type { Finding } from '../../store/administration/status.ts';
import { DamageError } from '../../store/administration/verified.ts';
import type { OptionSpec } from '../command.ts';
import type { Session } from '../session.ts';

/** Option to continue without damaged data, for each command that exports or copies a whole store. */
export const WITHOUT_DAMAGED: OptionSpec = {
  flag: 'without-damaged',
  takes: 'nothing',
  help: 'Leave out damaged or missing documents (such as keys) and list them, instead of failing.',
};

/** Formats the damage of a file, and its document if that is known. */
export const findingText = ({ reason, holds }: Finding): string =>
  holds === undefined ? reason : `${reason} (it holds ${shownDocument(holds)})`;

/** Formats a document: `key orders`; others with the name of their collection. */
const shownDocument = ({ collection, id }: NonNullable<Finding['holds']>): string =>
  KEYS.test(collection) ? `key ${id}` : `${id} of ${collection}`;

/** Collection of the keys of a mount. */
const KEYS = /^transit\/[^/]+\/keys$/;

/** Runs `work`. If it fails because several files are damaged, prints each file before the error. */
export async function namingDamage<T>(session: Session, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DamageError && error.findings.length > 1) {
      for (const finding of error.findings) session.fail(`${finding.file} ${findingText(finding)}`);
    }
    throw error;
  }
}

/** Prints a warning for each file that was left out. */
export function sayLeftOut(session: Session, leftOut: readonly Finding[] = []): void {
  for (const finding of leftOut) session.warn(`skipped: ${finding.file} ${findingText(finding)}`);
}
