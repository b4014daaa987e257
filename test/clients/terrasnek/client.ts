import { pythonLibrary } from '../python.ts';

export const client = pythonLibrary('terrasnek', 'terrasnek for Python', '0.1.14', [
  'finds the API, the account and the entitlements',
  'makes, lists, tags and deletes workspaces',
  'lists and deletes the tags of an organization',
  'makes projects and moves workspaces into them',
]);
