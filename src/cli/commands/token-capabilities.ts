import { isObject } from '../../ground/objects.ts';
import type { OwnCommand } from '../command.ts';
import { outPlaceOf } from '../files/out-file.ts';
import { printResult } from '../files/output.ts';
import { textOption } from '../given.ts';
import { taking } from '../parse/everywhere.ts';
import { outOptions } from '../parse/operation-spec.ts';

const ACCESSOR = 'accessor';

/** Command that lists the capabilities of a token on paths, like `vault token capabilities`. */
export const command: OwnCommand = {
  arguments: [
    {
      metavar: 'PATH',
      help: 'API path, as in a policy, e.g. transit/encrypt/orders. Can be repeated.',
      required: true,
      many: true,
    },
  ],
  options: [
    taking(ACCESSOR, 'ID', 'Check the token with this accessor.', { fallback: 'your own token' }),
    ...outOptions,
  ],
  details:
    'Prints the capabilities that the policies of a token grant on each path: create, read, update, ' +
    'delete, list and sudo; "root" means all of them, "deny" none. Limits that policies set on request parameters are not shown. ' +
    'To check another token, use its accessor or --token-file.',
  examples: [
    ['coffer token capabilities transit/encrypt/orders', 'Check what your token may do'],
    [
      'coffer token capabilities transit/keys/orders --accessor 6f2a9c0e4b7d1f35a8c2e6094d7b13f5a0c8e291',
      'Check another token, see "coffer token list"',
    ],
  ],
  async run(session, given) {
    const paths = given.arguments;
    const file = await outPlaceOf(session, given.options);
    const accessor = textOption(given.options, ACCESSOR);
    const runner = await session.runner();
    const { data } = await (accessor === undefined
      ? runner.run('sys capabilities-self', { paths })
      : runner.run('sys capabilities-accessor', { paths, accessor }));
    const rows = paths.map((path) => [path, capabilitiesIn(data, path).join(', ')]);
    await printResult(
      session,
      Object.fromEntries(paths.map((path) => [path, capabilitiesIn(data, path)])),
      {
        // As Vault prints it: the capabilities alone for a single path.
        lines: () => rows.map((row) => (rows.length === 1 ? row.slice(1) : row).join('\t')),
        table: () => ({ head: ['Path', 'Capabilities'], rows }),
      },
      { file, keepBase64: true },
    );
  },
};

function capabilitiesIn(data: unknown, path: string): readonly string[] {
  const found = isObject(data) ? data[path] : undefined;
  return Array.isArray(found) ? found.map(String) : [];
}
