import { operation } from '../declaration/operation.ts';
import { printMounts } from './mount-info.ts';

/** What a user interface shows: the mounts that the caller has something to do with. */
export const declaration = operation({
  api: 'vault',
  route: 'GET /sys/internal/ui/mounts',
  capability: 'read',
  anyToken: true,
  params: {},
  async run({ core, caller }) {
    const mounts = await core.mounts.list();
    return { data: { auth: {}, secret: printMounts(mounts.filter(({ path }) => caller.reaches(path))) } };
  },
});
