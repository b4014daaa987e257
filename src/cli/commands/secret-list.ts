import { invalid } from '../../ground/errors.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import type { OwnCommand } from '../command.ts';
import { printResult } from '../files/output.ts';
import { Files, formatOption, oneFile } from '../secret-files/files.ts';
import { visible } from '../terminal/visible.ts';

/** Command that lists the values of a file. */
export const command: OwnCommand = {
  arguments: [{ ...oneFile, required: false }],
  options: [formatOption],
  details:
    'Prints the name of each value and, on a terminal, the key version that it is encrypted with. ' +
    'Values are not decrypted, so neither a key nor a store is needed.',
  examples: [['coffer secrets list .env', 'List the names of the values in .env']],
  async run(session, { arguments: [path], options }) {
    if (path === undefined) {
      throw invalid('no file given', {
        field: 'FILE',
        hint: 'name a file, such as .env; for the mounts that "vault secrets list" shows, use "coffer mounts list"',
      });
    }
    const { file } = await new Files(session, options).open(path);
    const values = file.places.map(({ name, sealed }) => ({
      name,
      encrypted: sealed !== undefined,
      mount: sealed?.mount ?? null,
      key: sealed?.key ?? null,
      version: sealed?.version ?? null,
    }));
    await printResult(
      session,
      { file: path, values },
      {
        lines: () => values.map(({ name }) => visible(name)),
        table: () => ({
          head: ['Name', 'Encrypted with'],
          rows: values.map(({ name, encrypted, mount, key, version }) => [
            name,
            encrypted ? `${mount === DEFAULT_MOUNT ? '' : `${mount}/`}${key} v${version}` : 'not encrypted',
          ]),
        }),
      },
    );
  },
};
