import type { Finding } from '../../store/administration/status.ts';
import { DamageError } from '../../store/administration/verified.ts';
import type { OptionSpec } from '../command.ts';
import type { Session } from '../session.ts';

/** The word to go on without what is lost, of each command that takes a whole store somewhere. */
export const WITHOUT_DAMAGED: OptionSpec = {
  flag: 'without-damaged',
  takes: 'nothing',
  help: 'Go on without what is damaged or missing, instead of refusing; says what was left out.',
};

/** What is wrong with a file, and what was in it if that is known. */
export const findingText = ({ reason, holds }: Finding): string =>
  holds === undefined ? reason : `${reason} (document ${holds.id} of ${holds.collection})`;

/** Runs `work`; when it meets damage in several files, each is named before the error. */
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

/** Names what was left out, if anything was. */
export function sayLeftOut(session: Session, leftOut: readonly Finding[] = []): void {
  for (const finding of leftOut) session.warn(`left out: ${finding.file} ${findingText(finding)}`);
}
