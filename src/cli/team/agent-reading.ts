import { readdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { connectToKeyringAgent, type KeyringConnection } from '../../client/keyring-agent.ts';
import { encodeBase64 } from '../../ground/base64.ts';
import { attempt, type CofferError, expected } from '../../ground/errors.ts';
import { madeOnce } from '../../ground/objects.ts';
import { version } from '../../ground/version.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import type { AgentDirectory } from '../../service/agent/directory.ts';
import type { Asking, SeenDirectory, ValueToRead } from '../../service/agent/keyring-calls.ts';
import { nearestKeyring } from '../../team/directory.ts';
import { listingOf } from '../../team/listing.ts';
import type { Environment } from '../given.ts';
import { keyringAgentDirectory } from '../secrets/agent-directory.ts';
import { identityStamp } from '../secrets/identity-places.ts';
import type { Session } from '../session.ts';
import { fileOf, memoryDirectory } from '../state-directory.ts';
import type { FoundValue } from './found-values.ts';

/*
 * Reading values of a keyring through its agent, which judges the keyring as well: a program is then started with them
 * without the code that judges, and without Node's cryptography. Any unusual case, in the keyring or with the agent, is
 * left to the command, which judges by itself and tells its user.
 * @see docs/decisions/0315
 */

/** Agent of a keyring: a connection to it, or what prevented one. Undefined if none listens. */
type FoundAgent = { readonly connection: KeyringConnection } | { readonly failure: CofferError } | undefined;

/** Agents by the ID of their keyring. */
const foundBy = new WeakMap<Session, Map<string, FoundAgent>>();

/**
 * Returns the error of an earlier failed attempt to use the agent, so that the command does not wait for it again.
 */
export function agentFailure(session: Session, store: string): CofferError | undefined {
  const found = foundBy.get(session)?.get(store);
  return found !== undefined && 'failure' in found ? found.failure : undefined;
}

/**
 * Decrypts values by an agent.
 * @returns texts; undefined if the command has to do it by itself
 */
export async function openedByAgent(
  session: Session,
  values: readonly FoundValue[],
): Promise<readonly string[] | undefined> {
  if (session.settings.placeNamed || values.some(({ value }) => value.mount !== DEFAULT_MOUNT))
    return undefined;
  const texts = new Map<FoundValue, string>();
  const byFolder = Map.groupBy(values, ({ path }) => (path === undefined ? process.cwd() : folderOf(path)));
  for (const [directory, some] of byFolder) {
    const keyring = nearestKeyring(directory);
    const listing = keyring === undefined ? undefined : listingOf(keyring)?.text;
    if (keyring === undefined || listing === undefined) return undefined;
    const read = await askAgent(session, { keyring, directory }, (agent, asking) =>
      agent.read({ ...asking, keyring: { path: keyring, listing }, values: some.map(sent) }),
    );
    if (read?.length !== some.length) return undefined;
    for (const [index, text] of read.entries()) texts.set(some[index] as FoundValue, text);
  }
  return values.map((value) => texts.get(value) ?? '');
}

/**
 * Whether an agent knows rules as those that were used last on this machine.
 * @param path file that they are used for
 * @param rules undefined if there are none
 */
export async function agentKnowsRules(
  session: Session,
  path: string,
  rules: { readonly directory: string; readonly bytes: Uint8Array } | undefined,
): Promise<boolean> {
  const directory = folderOf(path);
  const keyring = nearestKeyring(directory);
  if (keyring === undefined) return false;
  const used = rules === undefined ? null : { ...rules, bytes: encodeBase64(rules.bytes) };
  const isKnown = await askAgent(session, { keyring, directory }, (agent, asking) =>
    agent.areLastRules({ ...asking, rules: used }),
  );
  return isKnown === true;
}

const folderOf = (path: string): string => dirname(resolve(path));

const sent = ({ name, value }: FoundValue): ValueToRead => ({
  key: value.key,
  version: value.version,
  name,
  payload: value.payload,
});

/** Returns the IDs of the keyrings that a directory may have: others can add files to it. */
const storesIn = (keyring: string): readonly string[] =>
  // If the path is not a readable directory, the command itself reports that.
  (attempt(() => readdirSync(keyring)) ?? []).flatMap(
    (name) => /^store\.([0-9a-z]{32})$/.exec(name)?.[1] ?? [],
  );

/**
 * Asks the agent of a keyring.
 * @returns null if the command has to find out by itself; undefined without an agent
 */
async function askAgent<T>(
  session: Session,
  { keyring, directory: ofFiles }: { readonly keyring: string; readonly directory: string },
  ask: (agent: KeyringConnection, asking: Asking) => Promise<T | null>,
): Promise<T | null | undefined> {
  const { environment } = session;
  for (const store of storesIn(keyring)) {
    const directory = keyringAgentDirectory(environment, store);
    if (directory?.isInUse !== true) continue;
    const asking = askingOf(environment, ofFiles);
    if (asking === undefined) return undefined;
    const known = madeOnce(foundBy, session, () => new Map<string, FoundAgent>());
    const found = known.has(store) ? known.get(store) : await connectTo(session, directory);
    known.set(store, found);
    if (found === undefined || 'failure' in found) continue;
    try {
      return await ask(found.connection, asking);
    } catch (error) {
      known.set(store, { failure: expected(error) });
    }
  }
  return undefined;
}

/** Returns what the command is run with; undefined if no agent could judge for it. */
function askingOf(environment: Environment, ofFiles: string): Asking | undefined {
  const memory = seen(memoryDirectory(environment));
  const directory = seen(ofFiles);
  const identities = identityStamp(environment);
  if (memory === undefined || directory === undefined || identities === undefined) return undefined;
  return { version, identities, memory, directory };
}

function seen(path: string | undefined): SeenDirectory | undefined {
  const file = path === undefined ? undefined : fileOf(path);
  return path === undefined || file === undefined ? undefined : { path, file };
}

async function connectTo(session: Session, directory: AgentDirectory): Promise<FoundAgent> {
  try {
    directory.verify();
    const connection = await connectToKeyringAgent(directory.socket);
    if (connection === undefined) return undefined;
    session.atEnd(() => connection.close());
    return { connection };
  } catch (error) {
    return { failure: expected(error) };
  }
}
