import { invalid } from '../../ground/errors.ts';
import type { DataKeys } from '../../transit/envelope/ports.ts';
import { rewrapEnvelope } from '../../transit/envelope/rewrap.ts';
import type { Command } from '../command.ts';
import { dataKeysOf } from '../envelope/data-keys.ts';
import { decryptedNames, inputsOf } from '../envelope/jobs.ts';
import { contextOf, contextOptions, expectedKey, inOption, namedKey } from '../envelope/options.ts';
import { openRewritable } from '../envelope/rewritable-file.ts';
import { forEachFile } from '../envelope/several.ts';
import { textsOption } from '../given.ts';
import { IN } from '../parse/operation-spec.ts';
import { jsonText } from '../terminal/output.ts';

export const command: Command = {
  arguments: [expectedKey],
  options: [
    { ...inOption, help: 'Files to rewrap; of a directory, every *.coffer below it.' },
    ...contextOptions,
  ],
  details:
    'Moves files to the latest version of their key by rewriting their headers in place: as fast for a terabyte as for a ' +
    'byte. Neither the data nor the data key are seen. A header whose rewriting was cut short is repaired.',
  examples: [
    ['coffer transit envelope rewrap --in dump.sql.coffer', 'After "coffer transit keys rotate orders"'],
    [
      'coffer transit envelope rewrap orders --in backups',
      'Every file below a directory, if it is under this key',
    ],
  ],
  async run(session, given) {
    const { options } = given;
    const name = namedKey(given);
    if (textsOption(options, IN).length === 0) {
      throw invalid('there is no file to rewrap', { field: IN, hint: 'name the files with --in' });
    }
    const files = inputsOf(options, decryptedNames.isMeant).map(({ path }) => ({ from: fileOf(path) }));
    const keys = await dataKeysOf(session, contextOf(options), name);
    const { results, exitCode } = await forEachFile(session, files, ({ from }) => rewrap(from, keys, name));
    if (session.settings.format === 'json') {
      session.streams.out.write(jsonText({ files: results }, session.streams.out.isTerminal));
    } else {
      for (const result of results)
        session.remark(`${result.in}: from version ${result.from} to ${result.to}.`);
    }
    return exitCode;
  },
};

function fileOf(path: string | undefined): string {
  if (path !== undefined) return path;
  throw invalid('standard input cannot be rewritten in place', { field: IN, hint: 'name a file' });
}

async function rewrap(path: string, keys: DataKeys, name: string | undefined) {
  const file = openRewritable(path);
  try {
    const { from, to } = await rewrapEnvelope({ keys, file, ...(name === undefined ? {} : { name }) });
    return { in: path, from, to };
  } finally {
    file.close();
  }
}
