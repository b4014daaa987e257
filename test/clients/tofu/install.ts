import type { Machine } from '../client.ts';
import { goInstallOfMain } from '../go.ts';

export const tofuVersion = '1.12.6';

/** Has OpenTofu from the module proxy. @returns the path of the command */
export const installTofu = (machine: Machine): Promise<string> =>
  goInstallOfMain(machine, {
    module: 'github.com/opentofu/opentofu',
    version: `v${tofuVersion}`,
    main: 'github.com/opentofu/opentofu/cmd/tofu',
    name: 'tofu',
  });
