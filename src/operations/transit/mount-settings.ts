import { changeSettings, readSettings } from '../../transit/mount-settings.ts';
import { flag, integer } from '../declaration/params.ts';
import type { Details } from '../declaration/table.ts';
import { transitOperation } from './parameters.ts';

const details: Details = { labels: { disable_upsert: 'Encrypt only with existing keys' } };

export const configureKeyDefaults = transitOperation({
  route: 'POST config/keys',
  params: {
    // Parameter whose absence means false, as in Vault; a command without it only reads.
    disable_upsert: flag({
      help: 'When encrypting with a key that does not exist, fail instead of creating it.',
      default: false,
      cli: { negatable: 'When encrypting with a key that does not exist, create it.' },
    }),
  },
  cli: {
    examples: {
      'coffer transit key-defaults': 'Show the current setting',
      'coffer transit key-defaults --disable-upsert': 'Make a mistyped key name an error',
    },
    withoutParam: { param: 'disable_upsert', run: 'read-key-defaults' },
    details,
  },
  async run({ engine }, values) {
    const settings = await changeSettings(engine, { disableUpsert: values.disable_upsert });
    return { data: { disable_upsert: settings.disableUpsert } };
  },
});

export const readKeyDefaults = transitOperation({
  route: 'GET config/keys',
  withoutSecret: true,
  cli: { details },
  async run({ engine }) {
    return { data: { disable_upsert: (await readSettings(engine)).disableUpsert } };
  },
});

export const configureCache = transitOperation({
  route: 'POST cache-config',
  withoutSecret: true,
  params: {
    size: integer({
      help: 'Maximum number of keys in the cache, at least 10 (0: no limit). Takes effect when the server restarts.',
      default: 0,
    }),
  },
  cli: {
    examples: {
      'coffer transit cache-config': 'Show the current size',
      'coffer transit cache-config --size 500': 'Limit the cache to 500 keys',
    },
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
  withoutSecret: true,
  cli: { result: { member: 'size', as: 'text' } },
  async run({ engine }) {
    return { data: { size: (await readSettings(engine)).cacheSize } };
  },
});
