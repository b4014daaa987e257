import { existsSync } from 'node:fs';
import { AGENT_DOORS } from '../../doors/agent/registry.ts';
import type { AgentStatus } from '../../service/agent/calls.ts';
import type { AgentDirectory } from '../../service/agent/directory.ts';
import { printLocation } from '../../store/backends/registry.ts';
import { doorOptions } from '../agent/door-options.ts';
import { findAgent, requireDirectory } from '../agent/find.ts';
import type { Command } from '../command.ts';
import { DONE, exitCodeOf } from '../exit-codes.ts';
import { printResult } from '../files/output.ts';
import { type Given, variable } from '../given.ts';
import type { Session } from '../session.ts';

export const status: Command = {
  arguments: [],
  options: [],
  details:
    'The exit code is 0 when the store is unlocked, 4 when it is locked. Asking does not count as a use.',
  examples: [
    ['coffer agent status', 'Until when, and where it listens'],
    ['coffer agent status -q > /dev/null || coffer unlock', 'Ask only when it is locked'],
  ],
  isVerdict: true,
  async run(session) {
    session.refuseRemote();
    const directory = requireDirectory(session);
    const found = await statusOf(session);
    const shown = {
      state: found?.locked === false ? 'unlocked' : found === undefined ? 'no agent' : 'locked',
      ...found,
      locked: found?.locked ?? true,
      store: await printLocation(session.settings.storeLocation),
      socket: directory.socket,
      api: directory.apiSocket,
      ...Object.fromEntries(AGENT_DOORS.map(({ name }) => [name, directory.doorSocket(name)])),
    };
    await printResult(session, shown, {});
    return shown.locked ? exitCodeOf.sealed : DONE;
  },
};

/** Returns the status of the session's agent; undefined without an agent. */
async function statusOf(session: Session): Promise<AgentStatus | undefined> {
  const connection = await findAgent(session);
  if (connection === undefined) return undefined;
  try {
    return await connection.status();
  } finally {
    connection.close();
  }
}

export const env: Command = {
  arguments: [],
  options: doorOptions,
  details:
    'Programs that speak the API of Vault and OpenBao find the agent with these: sops, cosign, bao. It looks at no token; some of ' +
    'them insist on one, and this keeps them from sending that of another server. The others lead ssh and its like to the keys ' +
    'that are offered to them ("coffer agent offer"); one that is set to something else already stays, unless its door is named.',
  examples: [['eval "$(coffer agent env)"', 'For what is started from this shell']],
  async run(session, { options }) {
    const directory = requireDirectory(session);
    const isOfServer = session.settings.address !== undefined;
    const family = isOfServer ? {} : ofFamily(directory);
    const variables: Readonly<Record<string, string>> = {
      ...family,
      ...ofDoors(directory, session, options),
    };
    await printResult(session, variables, {
      lines: () => Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`),
      result: { member: 'VAULT_ADDR', as: 'text' },
    });
    if (!isOfServer && !directory.isInUse)
      session.remark('There is no agent yet: "coffer unlock" starts it.');
    return DONE;
  },
};

/**
 * Returns the variables of Vault clients. VAULT_AGENT_ADDR takes precedence over a server address in a file, such as
 * that of sops.
 */
const ofFamily = ({ apiSocket }: AgentDirectory) => ({
  VAULT_ADDR: `unix://${apiSocket}`,
  VAULT_AGENT_ADDR: `unix://${apiSocket}`,
  VAULT_TOKEN: 'agent',
});

/**
 * Returns the variables of the protocols. SSH_AUTH_SOCK is set only on request, so that another ssh-agent remains in
 * use.
 */
function ofDoors(
  directory: AgentDirectory,
  session: Session,
  options: Given['options'],
): Readonly<Record<string, string>> {
  // For a server, only the protocols with offered keys have sockets; the agent of a store opens all.
  const isOpen = (name: string): boolean =>
    session.settings.address === undefined || existsSync(directory.doorSocket(name));
  const kinds = AGENT_DOORS.filter(
    ({ name, variablesOnRequest }) => options.has(name) || (!variablesOnRequest && isOpen(name)),
  );
  const found = kinds.flatMap((kind) =>
    Object.entries(kind.variables(directory.doorSocket(kind.name))).flatMap(([name, value]) => {
      const before = variable(session.environment, name);
      if (before === undefined || before === value || options.has(kind.name)) return [[name, value] as const];
      session.remark(`${name} is set already, so it stays; --${kind.name} replaces it.`);
      return [];
    }),
  );
  return Object.fromEntries(found);
}

/** Quotes a text for any POSIX shell, and for fish. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
