import { alternatives } from '../../ground/alternatives.ts';
import { asCofferError, CofferError, expected } from '../../ground/errors.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { openStore } from '../../store/open.ts';
import type { SealedStore } from '../../store/sealed/sealed-store.ts';
import type { Credential } from '../../store/slots/unlock.ts';
import type { Environment } from '../given.ts';
import { compareWithLastSeen } from '../last-seen.ts';
import type { Session } from '../session.ts';
import { namedIdentities } from './identity-places.ts';
import { environmentCredentials } from './secret-sources.ts';

/** Number of wrong answers accepted before the command fails. */
const ATTEMPTS = 3;

interface Unlocking {
  /** Called if the user was asked. */
  readonly afterAsking?: (store: SealedStore) => Promise<void>;
  /** File of private keys that the user named. */
  readonly identity?: string | undefined;
  /** Present if the command manages the store, so that it needs the secret even while an agent has the store open. */
  readonly manages?: true;
}

/**
 * Opens the store with the secrets of the environment and the private keys of the user, otherwise with the answers of
 * the user at the terminal.
 */
export async function unlockStore(
  session: Session,
  { afterAsking, identity, manages }: Unlocking = {},
): Promise<SealedStore> {
  let asked = false;
  const noteAsking = (): void => {
    asked = true;
  };
  const credentials = credentialsFor(session, { onAsking: noteAsking, identity });
  const store = await openWith(session, credentials).catch(async (refusal: unknown) => {
    const error = asked ? withoutAnswer(refusal) : refusal;
    const known = asCofferError(error);
    const isOfSecret =
      known?.kind === 'denied' || known?.kind === 'sealed' || known?.field?.endsWith('_FILE');
    if (isOfSecret !== true) throw error;
    const { advised, advisedToManage } = await import('./unlock-advice.ts');
    if (manages && known?.kind === 'sealed')
      throw await advisedToManage(session, error, session.settings.storeLocation);
    throw await advised(session, error);
  });
  if (asked) await afterAsking?.(store);
  return store;
}

/** Says of a store that stays locked although the user was asked that the answer was empty. */
function withoutAnswer(error: unknown): unknown {
  if (!(error instanceof CofferError) || error.kind !== 'sealed') return error;
  return new CofferError('sealed', 'nothing was entered: the store stays locked', {
    hint: error.hint,
    cause: error,
  });
}

/** Opens the store with the given secrets, without prompts. */
export async function openWith(session: Session, credentials: readonly Credential[]): Promise<SealedStore> {
  const store = await openStore({ location: session.settings.storeLocation, credentials });
  try {
    await compareWithLastSeen(session, store);
    return store;
  } catch (error) {
    store.close();
    throw error;
  }
}

interface CredentialOptions {
  /** Location of the store. Default: that of the settings. */
  readonly location?: Location | undefined;
  /** Called before each prompt. */
  readonly onAsking?: (() => void | Promise<void>) | undefined;
  /** File of private keys that the user named. */
  readonly identity?: string | undefined;
  /** Kind of the secrets to return. Default: all. */
  readonly only?: Credential['kind'] | undefined;
}

/**
 * Returns all credentials that may unlock a store: the environment first, then the private keys of the user, prompts
 * last.
 */
export function credentialsFor(
  session: Session,
  { onAsking, identity, only, location = session.settings.storeLocation }: CredentialOptions = {},
): readonly Credential[] {
  const given = environmentCredentials(session.environment);
  const all = [...given, identityCredential(session, location, { onAsking, identity })];
  const tried = (credentials: readonly Credential[]) =>
    credentials.filter(({ kind }) => only === undefined || kind === only);
  const question = only === 'passphrase' ? 'Current passphrase' : 'Passphrase';
  const asked = () => promptCredentials(session, tried(given), question, onAsking);
  return tried(session.prompts.available() ? [...all, ...asked()] : all);
}

/**
 * Returns the credential of the user's private keys. They are looked for only if the store has a slot for one; what the
 * environment names is read now, because a server removes secrets from its environment.
 */
function identityCredential(
  session: Session,
  location: Location,
  { onAsking, identity }: CredentialOptions,
): Credential {
  const named = namedIdentities(session.environment, identity);
  return {
    source: named.path ?? named.source,
    kind: 'recipient',
    async reveal(wrapped) {
      const { unwrapSecret } = await import('./wrapped-secrets.ts');
      const { prompts } = session;
      const asking = session.askedThrough({
        ...prompts,
        async secret(question) {
          await onAsking?.();
          return prompts.secret(question);
        },
      });
      return unwrapSecret(asking, { named, location }, wrapped);
    },
  };
}

/** Opens the store with its current passphrase, from the environment or asked for; no other secret is tried. */
export const unlockWithPassphrase = (session: Session): Promise<SealedStore> =>
  openWith(session, credentialsFor(session, { only: 'passphrase' })).catch(async (error: unknown) => {
    const known = expected(error, 'denied', 'sealed');
    const { advisedToManage, afterWrongSecret } = await import('./unlock-advice.ts');
    if (known.kind === 'denied') throw await afterWrongSecret(session, known);
    throw await advisedToManage(session, error, session.settings.storeLocation, 'passphrase');
  });

/** Returns the credentials for completion: without commands, which may prompt, and without prompts. */
export const silentCredentials = (environment: Environment): readonly Credential[] =>
  environmentCredentials(environment).filter(({ kind }) => kind !== 'command');

/**
 * Returns credentials that prompt for a passphrase or, if none is given, for recovery shares; only for secrets that the
 * store has a slot for. After a wrong answer, it prompts again.
 * @param given credentials of the environment, which are reported as wrong before the prompt
 */
function promptCredentials(
  session: Session,
  given: readonly Credential[],
  passphraseQuestion: string,
  onAsking?: () => void | Promise<void>,
): readonly Credential[] {
  let asked = false;
  let answered = false;
  let wrong = 0;
  const ask = async (question: string): Promise<string | undefined> => {
    const sources = new Set(given.map(({ source }) => source));
    if (!asked && sources.size > 0) {
      const { wrongFiles } = await import('./unlock-advice.ts');
      const facts = wrongFiles(session.environment, [...sources]);
      const why = facts.length === 0 ? '' : ` (${facts.join('; ')})`;
      session.warn(`the store cannot be unlocked with ${alternatives([...sources])}${why}`);
    }
    asked = true;
    await onAsking?.();
    const answer = await session.prompts.secret(question);
    return answer === '' ? undefined : answer;
  };
  const passphrase = async (): Promise<string | undefined> => {
    const answer = await ask(passphraseQuestion);
    answered = answer !== undefined;
    return answer;
  };
  const shares = async (): Promise<readonly string[] | undefined> => {
    if (answered) return undefined;
    const texts: string[] = [];
    for (;;) {
      const text = await ask(`Recovery share ${texts.length + 1} (press Enter when done)`);
      if (text === undefined) return texts.length === 0 ? undefined : texts;
      texts.push(text);
    }
  };
  const again = (what: string) => (): boolean => {
    if (++wrong === ATTEMPTS) return false;
    session.streams.err.write(`Wrong ${what}, try again.\n`);
    return true;
  };
  return [
    {
      source: 'the passphrase',
      kind: 'passphrase',
      asks: true,
      reveal: passphrase,
      again: again('passphrase'),
    },
    {
      source: 'the recovery shares',
      kind: 'shares',
      asks: true,
      reveal: shares,
      again: again('recovery shares'),
    },
  ];
}
