import { CofferError } from '../../ground/errors.ts';
import type { Finding } from '../../store/administration/status.ts';
import { DamageError, type VerifyOptions } from '../../store/administration/verified.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { withBackendAt } from '../../store/backends/registry.ts';
import type { Credential } from '../../store/slots/unlock.ts';
import { sayWhyAsked } from '../agent/managing.ts';
import { switching } from '../command.ts';
import type { Given } from '../given.ts';
import { LastSeen } from '../last-seen.ts';
import { credentialsFor } from '../secrets/unlock.ts';
import { advisedToManage } from '../secrets/unlock-advice.ts';
import type { Session } from '../session.ts';

/** Option to continue without damaged data, for each command that exports or copies a whole store. */
export const WITHOUT_DAMAGED = switching(
  'without-damaged',
  'Leave out damaged or missing documents (such as keys) and list them, instead of failing.',
);

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

/**
 * Prints a warning for each file that was left out.
 * @param outcome what happened to the documents in them
 */
export function sayLeftOut(
  session: Session,
  leftOut: readonly Finding[] = [],
  outcome: 'skipped' | 'dropped' = 'skipped',
): void {
  for (const finding of leftOut) session.warn(`${outcome}: ${finding.file} ${findingText(finding)}`);
}

/* Shared by the commands that move whole stores, and verify everything in between. */

/** Option to skip the verification. */
export const UNVERIFIED = switching(
  'unverified',
  'Do not ask for a secret and do not verify; damage is copied silently.',
  { excludes: [WITHOUT_DAMAGED.flag] },
);

/**
 * Returns the credentials for a store, which are asked for even if an agent has it open. Before the first prompt, it
 * says why.
 */
export function explainedCredentials(session: Session, location: Location): readonly Credential[] {
  let isSaid = false;
  const onAsking = async (): Promise<void> => {
    if (isSaid) return;
    isSaid = true;
    await sayWhyAsked(session, location);
  };
  return credentialsFor(session, { location, onAsking });
}

/**
 * Returns the options with which a command verifies the store. Opening it throws `sealed` if no secret is given.
 * @param location location of the store; undefined for that in a backup
 */
export const verification = (session: Session, { options }: Given, location?: Location): VerifyOptions =>
  options.has(UNVERIFIED.flag)
    ? {}
    : {
        credentials:
          location === undefined ? credentialsFor(session) : explainedCredentials(session, location),
        withoutDamaged: options.has(WITHOUT_DAMAGED.flag),
      };

/**
 * Runs `work`. Errors name the damage, how to give the secret, and the option to continue without one.
 * @param location location of the store; undefined for that in a backup
 */
export const verifying = <T>(
  session: Session,
  location: Location | undefined,
  work: () => Promise<T>,
): Promise<T> =>
  unlocking(session, location, work).catch((error: unknown) => {
    if (!(error instanceof CofferError) || error.kind !== 'sealed') throw error;
    const { kind, message, hint, cause } = error;
    const unlocking = hint ?? 'unlock the store to verify it';
    throw new CofferError(kind, message, {
      hint: `${unlocking}; or use --unverified to skip the verification`,
      cause,
    });
  });

/** As `verifying`, of a command that does nothing without a secret. */
export const unlocking = <T>(
  session: Session,
  location: Location | undefined,
  work: () => Promise<T>,
): Promise<T> =>
  namingDamage(session, work).catch(async (refusal: unknown) => {
    throw await advisedToManage(session, refusal, location);
  });

/**
 * Forgets the last state seen, since a user who restores a store knows that it may be older than the one that was
 * there.
 */
export const forgetLastSeen = (session: Session, id: string, location: Location): Promise<void> =>
  withBackendAt(location, async ({ place }) => LastSeen.of(session.environment, id, place)?.forget());
