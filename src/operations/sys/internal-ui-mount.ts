import { denied } from '../../ground/errors.ts';
import { operation } from '../declaration/operation.ts';
import { mountPath, printMount } from './mount-info.ts';

/** How clients learn which mount a path belongs to, before their first call. */
export const declaration = operation({
  api: 'vault',
  route: 'GET /sys/internal/ui/mounts/:path+',
  capability: 'read',
  anyToken: true,
  params: { path: mountPath },
  async run({ core, caller }, values) {
    const path = values.path.replace(/\/+$/, '');
    const mount = (await core.mounts.list()).find((candidate) => `${path}/`.startsWith(`${candidate.path}/`));
    if (mount === undefined || !caller.reaches(mount.path)) {
      throw denied(
        `preflight capability check returned 403, please ensure client's policies grant access to path "${path}/"`,
        { field: 'path' },
      );
    }
    return { data: { ...printMount(mount), path: `${mount.path}/` } };
  },
});
