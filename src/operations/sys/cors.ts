import { allowedHeaders, type CorsSettings, readCors, removeCors, writeCors } from '../../access/cors.ts';
import { done, operation } from '../declaration/operation.ts';
import { flag, texts } from '../declaration/params.ts';

/** Formats the settings; members are only present if CORS is enabled, as in Vault. */
function printCors(settings: CorsSettings | undefined): Readonly<Record<string, unknown>> {
  if (settings === undefined) return { enabled: false };
  return {
    allow_credentials: settings.allowsCredentials,
    allowed_headers: allowedHeaders(settings),
    allowed_origins: settings.origins,
    enabled: true,
  };
}

export const read = operation({
  route: 'GET /sys/config/cors',
  capability: 'sudo',
  withoutSecret: true,
  run: async ({ core }) => ({ data: printCors(await readCors(core.store)) }),
});

export const write = operation({
  route: 'POST /sys/config/cors',
  capability: 'sudo',
  params: {
    allowed_origins: texts({
      help: 'Allowed CORS origins, or * for any.',
      default: [],
    }),
    allowed_headers: texts({ help: 'Additional allowed CORS request headers.', default: [] }),
    allow_credentials: flag({
      help: 'Allow credentials in CORS requests.',
      default: false,
    }),
  },
  run: done(({ core }, values) =>
    writeCors(core.store, {
      origins: values.allowed_origins,
      headers: values.allowed_headers,
      allowsCredentials: values.allow_credentials,
    }),
  ),
});

export const remove = operation({
  route: 'DELETE /sys/config/cors',
  capability: 'sudo',
  run: done(({ core }) => removeCors(core.store)),
});
