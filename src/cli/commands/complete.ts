import type { Runner } from '../../operations/declaration/operation.ts';
import { kindNamed, RESOURCE_KINDS } from '../../operations/declaration/resource-kinds.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import type { OptionValue } from '../given.ts';
import { listedKind, NameList, openWithoutAsking } from '../listed-names.ts';
import { everywhereOptions } from '../parse/everywhere.ts';
import { silentCredentials } from '../secrets/unlock.ts';
import { Session } from '../session.ts';

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
      const prefix = words.at(-1) ?? '';
      const list = new NameList(await typed.runner(), await listedKind(facts));
      const names = await list.containing(prefix.startsWith('-') ? '' : prefix);
      streams.out.write(names.map((name) => `${name}\n`).join(''));
    } catch {
      // A locked store, an unknown organization or a missing answer: there is nothing to complete.
    } finally {
      await typed.close();
    }
    return DONE;
  },
};

/** Opens the store or connects to the server, without a secret that a command prints. */
const openQuietly = (session: Session): Promise<Runner> =>
  openWithoutAsking(session, silentCredentials(session.environment));

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
