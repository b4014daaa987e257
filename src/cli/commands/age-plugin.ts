import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Offer } from '../../access/doors.ts';
import { age } from '../../doors/agent/age/age.ts';
import { MACHINES, runMachine } from '../../doors/agent/age/age-door.ts';
import type { Desk } from '../../doors/agent/desk.ts';
import { remoteDesk } from '../../doors/agent/remote-desk.ts';
import { closing, invalid } from '../../ground/errors.ts';
import { withoutLast } from '../../ground/trim.ts';
import { lockedStore } from '../../store/refusals.ts';
import { Conversation } from '../../transit/envelope/age/conversation.ts';
import { askerOf } from '../agent/ask.ts';
import { findAgent, requireDirectory } from '../agent/find.ts';
import { listedOffers } from '../agent/offers.ts';
import { type OwnCommand, taking } from '../command.ts';
import { textOption } from '../given.ts';
import { givesSecret } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';
import type { Prompts } from '../terminal/prompt.ts';

const MACHINE = 'age-plugin';

/**
 * Command that age runs as `age-plugin-coffer`. It relays the plugin protocol to the agent, or opens the store itself
 * without an agent.
 */
export const command: OwnCommand = {
  options: [taking(MACHINE, 'NAME', 'State machine requested by age.', { choices: MACHINES })],
  details: 'Run by age under the name age-plugin-coffer.',
  examples: [['age -d -i identity.txt file.age', 'Decrypt with age, which starts the plugin']],
  async run(session, { options }) {
    const machine = textOption(options, MACHINE);
    if (machine === undefined || !MACHINES.some((known) => known === machine)) {
      throw invalid('age-plugin-coffer is run by age', {
        hint: `age starts it with --age-plugin=${MACHINES.join(' or ')}`,
      });
    }
    const agent = await agentOf(session);
    if (agent === undefined) await speak(session, machine);
    else await passOn(agent, machine);
  },
};

/**
 * Connects to the agent.
 * @returns undefined if the store is opened here: a server or a secret is given, or no agent has it open
 */
async function agentOf(session: Session): Promise<Socket | undefined> {
  if (session.settings.address !== undefined || givesSecret(session.environment)) return undefined;
  const found = await findAgent(session);
  if (found === undefined) return undefined;
  const { locked } = await closing(found, () => found.status());
  if (locked) return undefined;
  const socket = connect(requireDirectory(session).doorSocket(age.name));
  await once(socket, 'connect');
  return socket;
}

async function passOn(socket: Socket, machine: string): Promise<void> {
  socket.write(`${machine}\n`);
  process.stdin.pipe(socket);
  socket.pipe(process.stdout);
  await once(socket, 'close');
}

async function speak(session: Session, machine: string): Promise<void> {
  const connection = Duplex.from({ readable: process.stdin, writable: process.stdout });
  const conversation = new Conversation(connection);
  await closing(session.askedThrough(promptsOver(conversation)), async (asking) => {
    await runMachine(conversation, machine, deskOf(asking), new AbortController().signal);
    await finished(connection, { readable: false });
  });
}

/**
 * Returns a context that opens the store when it is first needed, after age has sent everything; only then may the
 * plugin ask questions.
 */
function deskOf(session: Session): Desk {
  let opened: Promise<Desk> | undefined;
  const open = async (): Promise<Desk> => {
    const runner = await session.runner();
    const offers: readonly Offer[] = (await listedOffers(runner)).filter(({ door }) => door === age.name);
    return remoteDesk(age, offers, runner, {
      ask: askerOf(session),
      defect: () => undefined,
      refused: () => undefined,
    });
  };
  const desk = (): Promise<Desk> => {
    opened ??= open();
    return opened;
  };
  return {
    offers: async (how) => (await desk()).offers(how),
    run: async (...asked) => (await desk()).run(...asked),
    consent: async (...asked) => (await desk()).consent(...asked),
    defect: () => undefined,
  };
}

/** Returns prompts that age shows: it owns the terminal, and asks on behalf of its plugins. */
const promptsOver = (conversation: Conversation): Prompts => ({
  available: () => true,
  async secret(question) {
    const { type, body } = await conversation.say('request-secret', [], `Coffer: ${question}`);
    if (type === 'ok') return body.toString('utf8');
    throw lockedStore({ hint: 'run "coffer unlock"' });
  },
  async text() {
    throw invalid('a plugin of age cannot prompt for a text');
  },
  async newSecret() {
    throw invalid('a plugin of age cannot prompt for a new passphrase');
  },
  async confirm(question) {
    const yes = withoutLast(Buffer.from('yes').toString('base64'), '=');
    const no = withoutLast(Buffer.from('no').toString('base64'), '=');
    const { type, args } = await conversation.say('confirm', [yes, no], `Coffer: ${question}`);
    return type === 'ok' && args[0] === 'yes';
  },
});
