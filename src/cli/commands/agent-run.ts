import { offerCommand } from '../../doors/agent/desk.ts';
import { AGENT_DOORS } from '../../doors/agent/registry.ts';
import { runAgent, SOCKET_NAMES, TAKEN } from '../../doors/agent/run-agent.ts';
import { asCofferError, closing, invalid } from '../../ground/errors.ts';
import type { Agent } from '../../service/agent/agent.ts';
import type { AgentUnlocking, UnlockTimes } from '../../service/agent/calls.ts';
import { Log } from '../../service/log.ts';
import { uselessSecrets } from '../../store/backends/registry.ts';
import { handOver } from '../../store/handed-over.ts';
import { askerOf, askToUnlockOf } from '../agent/ask.ts';
import { CONFIRM, useOptions, usesFor, usesText } from '../agent/door-options.ts';
import { requireDirectory } from '../agent/find.ts';
import { passedDescriptors } from '../agent/passed-descriptors.ts';
import { type AgentSaid, toldBy } from '../agent/start.ts';
import { timeOptions, timesOf } from '../agent/times.ts';
import type { OptionSpec, OwnCommand } from '../command.ts';
import { type Given, textOption, textsOption } from '../given.ts';
import { AUDIT_LOG, auditOption } from '../parse/everywhere.ts';
import { forgetVariables } from '../secrets/own-environment.ts';
import { FAMILY_TOKEN, secretVariables } from '../secrets/secret-variables.ts';
import { credentialsFor, openWith } from '../secrets/unlock.ts';
import type { Session } from '../session.ts';

/** Options for the keys of each protocol, for an agent of a server, which has no local store for offers. */
const keyOptions: readonly OptionSpec[] = AGENT_DOORS.map((kind) => ({
  flag: kind.name,
  takes: 'each',
  metavar: 'NAME',
  help: `Offer the key NAME, which a server (--address) holds, to ${kind.programs}. ${usesText(kind)}`,
}));

/** Command that runs the agent in the foreground, for service managers and for debugging. */
export const run: OwnCommand = {
  options: [...timeOptions, auditOption, ...keyOptions, ...useOptions],
  details:
    'If no secret is available, the agent starts locked. It waits for "coffer unlock"; when a program needs a key, it ' +
    'asks for the passphrase with the program in COFFER_ASKPASS or SSH_ASKPASS. With systemd socket ' +
    'activation, sockets are matched by path or by FileDescriptorName=, which must be agent (for coffer commands), ' +
    `api (for the Vault API) or the name of a protocol (${AGENT_DOORS.map(({ name }) => name).join(', ')}). The ` +
    'agent exits after the time of --idle or --for, on "coffer lock", and on SIGINT, SIGTERM or SIGHUP. With ' +
    '--address, the agent uses the keys of a Coffer, OpenBao or Vault server with your current token; --ssh, ' +
    '--pkcs11, --age and --sops name the keys to offer.',
  examples: [
    ['coffer agent run', 'Run in the foreground, e.g. as ExecStart= of a systemd user service'],
    [
      'coffer agent run --address https://vault.example.org --ssh laptop',
      'Offer the key "laptop" of a server to ssh',
    ],
  ],
  labelOf: (field) => (field === 'audit' ? `--${AUDIT_LOG}` : undefined),
  async run(session, { options }) {
    const { address } = session.settings;
    if (address !== undefined) return runForServer(session, address, options);
    refuseOffers(session, options);
    const times = timesOf(options);
    const { storeLocation: location } = session.settings;
    const directory = requireDirectory(session);
    const descriptors = passedDescriptors(process.env, SOCKET_NAMES);
    const takeUnlocking = once(await unlockingNow(session, times));
    forgetVariables(process.env, [...secretVariables, FAMILY_TOKEN, ...uselessSecrets(location)]);
    await runAgent({
      location,
      directory,
      auditFile: textOption(options, AUDIT_LOG),
      descriptors,
      takeUnlocking,
      ask: askerOf(session),
      askToUnlock: askToUnlockOf(session, times),
      log: new Log((line) => session.streams.err.write(`${line}\n`)),
      ready(agent, addresses) {
        for (const address of addresses) session.streams.out.write(`${address}\n`);
        endOnSignals(agent);
      },
    });
  },
};

const ANY_OFFER = '"coffer agent offer NAME --ssh"';

/**
 * Refuses key options for an agent of a store, whose offers are stored in it.
 * @throws `invalid` if such an option is given
 */
function refuseOffers({ settings: { mount } }: Session, options: Given['options']): void {
  const given = [...keyOptions, ...useOptions].find(({ flag }) => options.has(flag));
  if (given === undefined) return;
  const commands = AGENT_DOORS.flatMap(({ name }) =>
    textsOption(options, name).map((key) => `"${offerCommand(name, { mount, key })}"`),
  );
  throw invalid(`--${given.flag} needs --address`, {
    field: `--${given.flag}`,
    hint: `to offer keys of a store, run ${commands.length > 0 ? commands.join(' and ') : ANY_OFFER}`,
  });
}

/** Options that only apply to the agent of a local store. */
const OF_STORE = [...timeOptions, auditOption].map(({ flag }) => flag);

/** Runs an agent that uses the keys of a server. It opens no store, and only the token limits its lifetime. */
async function runForServer(session: Session, address: string, options: Given['options']): Promise<void> {
  const useless = OF_STORE.find((flag) => options.has(flag));
  if (useless !== undefined) {
    throw invalid(`--${useless} cannot be used with a server (--address or COFFER_ADDR)`, {
      field: `--${useless}`,
      hint: 'omit this option: the server writes the audit log, and limits the lifetime of the token',
    });
  }
  const { mount } = session.settings;
  const confirm = options.has(CONFIRM);
  const doors = AGENT_DOORS.flatMap((kind) => {
    const keys = textsOption(options, kind.name);
    const uses = keys.length === 0 ? [] : usesFor(kind, options);
    return keys.length === 0 ? [] : [{ kind, offers: keys.map((key) => ({ mount, key, uses, confirm })) }];
  });
  if (doors.length === 0) {
    throw invalid('no key to offer', { hint: 'add e.g. --ssh NAME' });
  }
  const { openLasting } = await import('../runner-lasting.ts');
  const { runDoors } = await import('../../doors/agent/run-doors.ts');
  const runner = await openLasting(session, address);
  forgetVariables(process.env, [...secretVariables, FAMILY_TOKEN]);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  await closing(runner, () =>
    runDoors({
      runner,
      directory: requireDirectory(session),
      doors,
      ask: askerOf(session),
      log: new Log((line) => session.streams.err.write(`${line}\n`)),
      ready(addresses) {
        for (const found of addresses) session.streams.out.write(`${found}\n`);
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end());
      },
      ended,
    }),
  );
}

/**
 * Returns the data to unlock the store now.
 * @returns undefined if no secret to unlock it is given
 * @throws `denied` if a secret does not unlock it
 */
async function unlockingNow(session: Session, times: UnlockTimes): Promise<AgentUnlocking | undefined> {
  try {
    const store = await openWith(session, credentialsFor(session));
    return { handed: await closing(store, handOver), ...times };
  } catch (error) {
    if (asCofferError(error)?.kind !== 'sealed') throw error;
    return undefined;
  }
}

const MOST_START_BYTES = 1 << 20;

/** Command that "unlock" starts; it reads all its data from standard input. */
export const inBackground: OwnCommand = {
  async run(session) {
    const say = (said: AgentSaid): void => session.streams.out.write(`${JSON.stringify(said)}\n`);
    const { location, auditFile, takeUnlocking } = toldIn(session);
    const { environment } = session;
    // Of this store, not of the place that the environment names: VAULT_ADDR may name a server, or this agent.
    const settings = { ...session.settings, storeLocation: location, address: undefined };
    try {
      await runAgent({
        location,
        directory: requireDirectory({ environment, settings }),
        auditFile,
        takeUnlocking,
        descriptors: new Map(),
        ask: askerOf(session),
        log: new Log(() => undefined),
        ready(agent) {
          endOnSignals(agent);
          say({ listens: true });
        },
      });
    } catch (error) {
      const known = asCofferError(error);
      say(known?.field === TAKEN ? { taken: true } : { failed: known?.message ?? 'internal error' });
    }
  },
};

/** Reads the data that the starting process wrote. */
function toldIn({ streams }: Session) {
  const { unlocking, ...others } = toldBy(streams.in.readAll(MOST_START_BYTES));
  return { ...others, takeUnlocking: once(unlocking) };
}

/** Returns a function that returns the value the first time and then forgets it. */
function once<T>(value: T | undefined): () => T | undefined {
  let left = value;
  return () => {
    const given = left;
    left = undefined;
    return given;
  };
}

function endOnSignals(agent: Agent): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void agent.lock(`it received ${signal}`));
  }
}
