import { changeSettings } from '../../transit/mount-settings.ts';
import { operation } from '../declaration/operation.ts';
import { flag } from '../declaration/params.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'POST config/keys',
  capability: 'update',
  params: {
    // Absent means false, as with peers; a command line that does not mention it only reads.
    disable_upsert: flag({
      help: 'Encryption never creates a key that is not there.',
      default: false,
      cli: { negatable: true },
    }),
  },
  cli: {
    examples: [
      ['coffer transit key-defaults', 'the present setting'],
      ['coffer transit key-defaults --disable-upsert', 'a mistyped name is an error, not a new key'],
    ],
    withoutParam: { param: 'disable_upsert', run: 'read-key-defaults' },
  },
  async run({ core, mount }, values) {
    const engine = await core.engine(mount);
    const settings = await changeSettings(engine, { disableUpsert: values.disable_upsert });
    return { data: { disable_upsert: settings.disableUpsert } };
  },
});
