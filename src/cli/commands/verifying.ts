import { CofferError } from '../../ground/errors.ts';
import type { VerifyOptions } from '../../store/administration/verified.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { withBackendAt } from '../../store/backends/registry.ts';
import type { Credential } from '../../store/slots/credential.ts';
import { sayWhyAsked } from '../agent/why-asked.ts';
import type { OptionSpec } from '../command.ts';
import type { Given } from '../given.ts';
import { LastSeen } from '../last-seen.ts';
import { credentialsFor } from '../secrets/unlock.ts';
import { advisedToManage } from '../secrets/unlock-advice.ts';
import type { Session } from '../session.ts';
import { namingDamage, WITHOUT_DAMAGED } from './damage.ts';

/* Shared by the commands that move whole stores, and verify everything in between. */

/** Option to skip the verification. */
export const UNVERIFIED: OptionSpec = {
  flag: 'unverified',
  takes: 'nothing',
  help: 'Do not ask for a secret and do not verify; damage is copied silently.',
  excludes: [WITHOUT_DAMAGED.flag],
};

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
    throw await advisedToManage(session, refusal, { location });
  });

/**
 * Forgets the last state seen, since a user who restores a store knows that it may be older than the one that was
 * there.
 */
export const forgetLastSeen = (session: Session, id: string, location: Location): Promise<void> =>
  withBackendAt(location, async ({ place }) => LastSeen.of(session.environment, id, place)?.forget());
