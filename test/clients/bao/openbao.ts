import type { Machine } from '../client.ts';
import { goInstallOfMain } from '../go.ts';

/** A release whose module the proxy has: it is not published by version, but by commit. */
export const version = '2.4.0';

/** `bao`, the command and the server. */
export const installBao = (machine: Machine): Promise<string> =>
  goInstallOfMain(machine, {
    module: 'github.com/openbao/openbao',
    version: 'v0.0.0-20250828202315-f9407a27fbee',
    main: 'github.com/openbao/openbao',
    name: 'bao',
  });
