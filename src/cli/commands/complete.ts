import type { Runner } from '../../operations/declaration/operation.ts';
import { type KindFacts, kindNamed, RESOURCE_KINDS } from '../../operations/declaration/resource-kinds.ts';
import { loadOperation } from '../../operations/runner.ts';
import { agentInPlaceOfSecret } from '../agent/find.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { rawLines } from '../files/output.ts';
import type { OptionValue } from '../given.ts';
import { everywhereOptions } from '../parse/everywhere.ts';
import { openUnlocked } from '../runner-local.ts';
import { silentCredentials } from '../secrets/unlock.ts';
import { Session } from '../session.ts';
import { visible } from '../terminal/visible.ts';

export const command: Command = {
  arguments: [
    {
      metavar: 'KIND',
      help: 'Kind of resource to list.',
      required: true,
      choices: Object.keys(RESOURCE_KINDS),
    },
    { metavar: 'WORD', help: 'Words of the command line so far.', required: false, many: true },
  ],
  options: [],
  examples: [],
  /** Prints nothing for an error: a message would appear in the middle of the line being typed. */
  async run(session, { arguments: [kind = '', ...words] }) {
    const facts = kindNamed(kind);
    if (facts === undefined) return DONE;
    const { streams, environment, prompts } = session;
    const typed = new Session(streams, environment, optionsIn(words), prompts, openQuietly);
    try {
      const names = await namesFrom(await typed.runner(), facts, words.at(-1) ?? '');
      streams.out.write(names.map((name) => `${name}\n`).join(''));
    } catch {
      // A locked store, an unknown organization or a missing answer: there is nothing to complete.
    } finally {
      await typed.close();
    }
    return DONE;
  },
};

/** Opens the store or connects to the server without ever asking the user. */
async function openQuietly(session: Session): Promise<Runner> {
  const { address } = session.settings;
  if (address === undefined) {
    const agent = await agentInPlaceOfSecret(session);
    return agent?.runner(session.settings) ?? openUnlocked(session, silentCredentials(session.environment));
  }
  const { openRemote } = await import('../runner-remote.ts');
  return openRemote(session, address);
}

async function namesFrom(
  runner: Runner,
  { list, search }: KindFacts,
  prefix: string,
): Promise<readonly string[]> {
  const operation = await loadOperation(list);
  const raw: Record<string, unknown> = {};
  for (const [name, param] of Object.entries(operation.params)) {
    if (param.cli.flag === 'org' && runner.organization !== undefined) raw[name] = runner.organization;
  }
  if (search !== undefined && prefix !== '' && !prefix.startsWith('-')) raw[search] = prefix;
  const { data } = await runner.run(operation, raw);
  // Other users chose the names, and not all shells escape control characters.
  return rawLines(data, operation.cli ?? {}).filter((name) => visible(name) === name);
}

/** Returns the global options with a value, as far as they were typed; without warnings. */
function optionsIn(words: readonly string[]): ReadonlyMap<string, OptionValue> {
  const found = new Map<string, OptionValue>();
  for (const { flag, takes } of everywhereOptions) {
    if (takes === 'nothing') continue;
    words.forEach((word, index) => {
      const next = words[index + 1];
      if (word === `--${flag}` && next !== undefined) found.set(flag, next);
      if (word.startsWith(`--${flag}=`)) found.set(flag, word.slice(flag.length + 3));
    });
  }
  found.delete('output');
  found.set('quiet', true);
  return found;
}
