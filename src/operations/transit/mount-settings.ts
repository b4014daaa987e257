import { changeSettings, readSettings } from '../../transit/mount-settings.ts';
import { flag, integer } from '../declaration/params.ts';
import { transitOperation } from './parameters.ts';

export const configureKeyDefaults = transitOperation({
  route: 'POST config/keys',
  capability: 'update',
  params: {
    // Absent means false, as in Vault; a command without it only reads.
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
  async run({ engine }, values) {
    const settings = await changeSettings(engine, { disableUpsert: values.disable_upsert });
    return { data: { disable_upsert: settings.disableUpsert } };
  },
});

export const readKeyDefaults = transitOperation({
  route: 'GET config/keys',
  capability: 'read',
  withoutSecret: true,
  params: {},
  async run({ engine }) {
    return { data: { disable_upsert: (await readSettings(engine)).disableUpsert } };
  },
});

export const configureCache = transitOperation({
  route: 'POST cache-config',
  capability: 'update',
  withoutSecret: true,
  params: {
    size: integer({
      help: 'Entries to keep in memory, at least 10; 0 for no limit. Servers take it up at their next reload.',
      default: 0,
      cli: { metavar: 'N' },
    }),
  },
  cli: {
    examples: [
      ['coffer transit cache-config', 'the present size'],
      ['coffer transit cache-config --size 500', 'servers keep at most 500 keys opened'],
    ],
    result: { member: 'size', as: 'text' },
    withoutParam: { param: 'size', run: 'read-cache-config' },
  },
  async run({ engine }, values) {
    const { cacheSize } = await changeSettings(engine, { cacheSize: values.size });
    return { data: { size: cacheSize } };
  },
});

export const readCache = transitOperation({
  route: 'GET cache-config',
  capability: 'read',
  withoutSecret: true,
  params: {},
  cli: { result: { member: 'size', as: 'text' } },
  async run({ engine }) {
    return { data: { size: (await readSettings(engine)).cacheSize } };
  },
});
