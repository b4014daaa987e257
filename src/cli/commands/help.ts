import { invalid } from '../../ground/errors.ts';
import { type Command, type Group, isGroup, type Node } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { topics } from '../parse/help-topics.ts';
import { parseWithCommander } from '../parse/program.ts';

/** `coffer help`, on the commands of a tree. */
export function helpOn(tree: Group): Command {
  const commands = Object.entries(tree.children)
    .filter(([, node]) => isGroup(node) || node.hidden !== true)
    .map(([word]) => word);
  return {
    arguments: [
      {
        metavar: 'TOPIC',
        help: `The words of a command (${commands.join(', ')}), or a topic: ${[...topics.keys()].join(', ')}.`,
        required: false,
        many: true,
        choices: [...commands, ...topics.keys()],
      },
    ],
    options: [],
    examples: [
      ['coffer help transit encrypt', 'The same as coffer transit encrypt --help'],
      ['coffer help environment', 'Every variable that Coffer reads'],
    ],
    async run({ streams }, { arguments: words }) {
      const topic = topics.get(words.join(' '));
      if (topic !== undefined) {
        streams.out.write(topic());
        return DONE;
      }
      const argv = isPlace(tree, words) ? [...words, '--help'] : words;
      const outcome = await parseWithCommander(argv, tree, streams);
      if (outcome.kind === 'run') throw invalid(`there is no help on "${words.join(' ')}"`);
      streams.out.write(outcome.text);
      return DONE;
    },
  };
}

/** Whether the words lead to a command or a group; if not, commander knows what was probably meant. */
function isPlace(tree: Group, words: readonly string[]): boolean {
  let node: Node | undefined = tree;
  for (const word of words) {
    if (node === undefined || !isGroup(node) || !Object.hasOwn(node.children, word)) return false;
    node = node.children[word];
  }
  return true;
}
