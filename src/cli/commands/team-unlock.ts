import { asCofferError, denied } from '../../ground/errors.ts';
import { runKeyringAgent } from '../../service/agent/keyring-agent.ts';
import type { AgentSaid } from '../agent/start.ts';
import { timeOptions, timesOf } from '../agent/times.ts';
import type { OwnCommand } from '../command.ts';
import { areLastRules } from '../secret-files/last-rules.ts';
import { keyringAgentDirectory } from '../secrets/agent-directory.ts';
import { AgentJudge } from '../team/agent-judge.ts';
import { keepKeyring, keyringToldBy } from '../team/keeping.ts';
import { identityOption, openKeyringHere } from './team.ts';

/* Commands that keep a keyring unlocked in an agent. */

export const unlock: OwnCommand = {
  options: [...timeOptions, identityOption],
  details:
    'Uses your key once, and starts an agent: a background process of the current user that decrypts and ' +
    'encrypts values with the keys of this keyring for later commands. Commands that change the team still need ' +
    'your key. "coffer lock" locks the keyring.',
  examples: [
    [
      'coffer team unlock --idle 1h --for 10h',
      'Unlock for a working day; a hardware key must be touched only once',
    ],
  ],
  async run(session, { options }) {
    const times = timesOf(options);
    const keyring = await openKeyringHere(session, options);
    for (const { id } of keyring.state.believed) await keyring.roots.open(id);
    if (keyring.roots.known.size === 0) throw denied('none of your keys opens this keyring');
    await keepKeyring(session, keyring, times);
  },
};

const MOST_START_BYTES = 64 << 20;

/** Command that the others start; it reads all its data from standard input. */
export const inBackground: OwnCommand = {
  async run({ streams, environment }) {
    const say = (said: AgentSaid): void => streams.out.write(`${JSON.stringify(said)}\n`);
    try {
      const handed = keyringToldBy(streams.in.readAll(MOST_START_BYTES));
      const directory = keyringAgentDirectory(environment, handed.store);
      if (directory === undefined) throw denied('cannot run an agent here');
      await runKeyringAgent(directory, { handed, judge: new AgentJudge(handed, areLastRules) }, (agent) => {
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
          process.on(signal, () => void agent.lock());
        say({ listens: true });
      });
    } catch (error) {
      say({ failed: asCofferError(error)?.message ?? 'internal error' });
    }
  },
};
