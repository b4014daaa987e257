import { existsSync } from 'node:fs';
import type { AgentDoorKind } from '../../doors/agent/agent-door.ts';
import { AGENT_DOORS } from '../../doors/agent/registry.ts';
import { alternatives } from '../../ground/alternatives.ts';
import { closing, invalid, notFound } from '../../ground/errors.ts';
import type { Table } from '../../operations/declaration/table.ts';
import type { AgentStatus } from '../../service/agent/calls.ts';
import type { AgentDirectory } from '../../service/agent/directory.ts';
import { printLocation } from '../../store/backends/registry.ts';
import { CONFIRM, chosenDoors, doorOptions, useOptions, usesFor, usesText } from '../agent/door-options.ts';
import { findAgent, requireDirectory } from '../agent/find.ts';
import { checkKey, listedOffers } from '../agent/offers.ts';
import { lifetimeText } from '../agent/times.ts';
import { argument, type OwnCommand } from '../command.ts';
import { DONE, exitCodeOf } from '../exit-codes.ts';
import { isBrief, printResult } from '../files/output.ts';
import { type Given, variable } from '../given.ts';
import type { Session } from '../session.ts';
import { quoted } from '../terminal/shell-word.ts';

export const status: OwnCommand = {
  details:
    'Exits with 0 if the store is unlocked and 4 if it is locked. Checking the status does not reset the idle timer.',
  examples: [
    ['coffer agent status', 'Show when the store locks and where the agent listens'],
    ['coffer agent status -q > /dev/null || coffer unlock', 'Unlock only if the store is locked'],
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
    const brief = (): Table => ({
      head: ['', ''],
      rows: [
        ['State', found?.locked === false ? `unlocked for ${lifetimeText(found)}` : shown.state],
        ['Store', shown.store],
        ['Socket', shown.socket],
      ],
      summary: 'More: coffer agent status -o wide',
    });
    await printResult(session, shown, isBrief(session) ? { table: brief } : {});
    return shown.locked ? exitCodeOf.sealed : DONE;
  },
};

/** Returns the status of the session's agent; undefined without an agent. */
async function statusOf(session: Session): Promise<AgentStatus | undefined> {
  const connection = await findAgent(session);
  return connection && closing(connection, () => connection.status());
}

/** Returns the help of the option of a protocol: what is printed because of it. */
function envHelp(kind: AgentDoorKind): string {
  const names = Object.keys(kind.variables('')).join(' and ');
  if (names === '') return `Has no effect: ${kind.programs} needs no variables.`;
  const isExtra = kind.variablesOnRequest === true;
  return isExtra
    ? `Also print ${names}, for ${kind.programs}.`
    : `Print ${names} even if already set, for ${kind.programs}.`;
}

export const env: OwnCommand = {
  options: doorOptions(envHelp),
  details:
    'VAULT_ADDR and VAULT_AGENT_ADDR point programs that use the Vault API, such as sops, cosign and bao, at the ' +
    'agent. VAULT_TOKEN gets a placeholder, which the agent ignores: some programs need a token, and would ' +
    'otherwise send the one that is meant for another server. SSH_AUTH_SOCK and P11_KIT_SERVER_ADDRESS point ssh ' +
    'and PKCS #11 programs at the keys offered to them (see "coffer agent offer"). If one of these two is ' +
    'already set to another value, it is only printed with --ssh or --pkcs11. With --address, only variables of ' +
    'protocols with offered keys are printed.',
  examples: [['eval "$(coffer agent env)"', 'Set the variables for programs started from this shell']],
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
      session.remark('No agent is running. Run "coffer unlock" to start it.');
    const isOffering = AGENT_DOORS.some(({ name }) => existsSync(directory.doorSocket(name)));
    if (isOfServer && !isOffering)
      session.remark('No agent offers keys of this server. Run "coffer agent run --ssh NAME" to offer one.');
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
 * Returns the variables of the protocols. A variable with another value is replaced only on request, so that another
 * ssh-agent remains in use.
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
      session.remark(`${name} is already set and was kept; use --${kind.name} to replace it.`);
      return [];
    }),
  );
  return Object.fromEntries(found);
}

const keyArgument = argument('NAME', 'Name of the key, see "coffer transit keys list".', { offers: 'key' });

export const offer: OwnCommand = {
  arguments: [keyArgument],
  options: [...doorOptions((kind) => `Offer the key to ${kind.programs}. ${usesText(kind)}`), ...useOptions],
  details:
    'Other programs can use the key while the store is unlocked; the key itself never leaves the agent. No key ' +
    'is offered by default, and an offer lasts until "coffer agent withdraw". Offering a key again replaces the ' +
    'uses that were allowed before.',
  examples: [
    ['coffer agent offer laptop --ssh', 'Use a key for ssh logins and signed git commits'],
    ['coffer agent offer laptop --ssh --use login --confirm', 'Allow only logins, and confirm each one'],
  ],
  async run(session, { arguments: [key = ''], options }) {
    const kinds = chosenDoors(options);
    if (kinds.length === 0) {
      throw invalid('no protocol given', {
        hint: `use ${alternatives(AGENT_DOORS.map(({ name }) => `--${name}`))}`,
      });
    }
    const made = kinds.map((kind) => ({ door: kind.name, uses: usesFor(kind, options) }));
    const { mount } = session.settings;
    const confirm = options.has(CONFIRM);
    const runner = await session.runner();
    await checkKey(runner, kinds, key);
    for (const one of made) await runner.run('doors offer', { ...one, key, mount, confirm });
    const names = kinds.flatMap((kind) => kind.named?.({ mount, key }) ?? []);
    const shown = { key, mount, confirm, doors: made, ...Object.fromEntries(names) };
    if (session.settings.format !== undefined) await printResult(session, shown, {});
    else for (const [what, name] of names) session.streams.out.write(`${what}: ${name}\n`);
    const flags = kinds.map(({ name }) => name).join(' and ');
    session.remark(`Offered ${key} to ${flags}.${findingText(kinds)}`);
  },
};

/** Says how programs find the agent; nothing if they need no variables for that. */
function findingText(kinds: readonly AgentDoorKind[]): string {
  const found = kinds.filter((kind) => Object.keys(kind.variables('')).length > 0);
  if (found.length === 0) return '';
  const asked = found.flatMap((kind) => (kind.variablesOnRequest ? [` --${kind.name}`] : []));
  return ` Run 'eval "$(coffer agent env${asked.join('')})"' so that programs find the agent.`;
}

export const withdraw: OwnCommand = {
  arguments: [keyArgument],
  options: doorOptions(({ programs }) => `Withdraw the key only from ${programs}.`),
  details:
    'Without --ssh, --pkcs11, --age or --sops, withdraws the key from all programs. Programs that are using the key lose it immediately.',
  examples: [['coffer agent withdraw laptop', 'Withdraw a key from all programs']],
  async run(session, { arguments: [key = ''], options }) {
    const { mount } = session.settings;
    const chosen = chosenDoors(options).map(({ name }) => name);
    const runner = await session.runner();
    const offered = (await listedOffers(runner))
      .filter((entry) => entry.key === key && entry.mount === mount)
      .map(({ door }) => door);
    const doors = chosen.length === 0 ? offered : chosen.filter((name) => offered.includes(name));
    if (doors.length === 0) {
      throw notFound(`${key} is not offered${chosen.length === 0 ? '' : ` through ${chosen.join(' or ')}`}`, {
        field: 'key',
        hint: 'run "coffer agent list" to list the offered keys',
      });
    }
    for (const door of doors) await runner.run('doors withdraw', { door, key, mount });
    session.remark(`Withdrew ${key} from ${doors.join(' and ')}.`);
  },
};

export const list: OwnCommand = {
  details: 'Shows each offered key with its protocol and what programs may do with the key.',
  examples: [['coffer agent list', 'List offered keys and their allowed uses']],
  async run(session) {
    const offers = await listedOffers(await session.runner());
    if (offers.length === 0 && isBrief(session)) {
      const command = ['coffer agent offer NAME --ssh', ...session.placeOptions()].join(' ');
      session.say(`No keys are offered. Offer one: ${command}`);
      return;
    }
    await printResult(
      session,
      { offers },
      {
        lines: () => offers.map(({ door, mount, key }) => `${door}\t${mount}/${key}`),
        table: () => ({
          head: isBrief(session)
            ? ['Protocol', 'Mount', 'Key', 'Uses', 'Confirms']
            : ['Door', 'Mount', 'Key', 'Uses', 'Asks'],
          rows: offers.map(({ door, mount, key, uses, confirm }) => [
            door,
            mount,
            key,
            uses.join(' '),
            confirm ? 'yes' : 'no',
          ]),
        }),
      },
    );
  },
};
