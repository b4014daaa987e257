import { pythonLibrary } from '../python.ts';

export const client = pythonLibrary('pytfe', 'pytfe for Python', '1.5.0', [
  'makes, reads, lists and deletes organizations and workspaces',
  'lists, searches, attaches and deletes the tags of an organization',
  'puts tags on a workspace and takes them off',
  'binds keys with values to projects and workspaces, and finds workspaces by them',
  'reserves keys of tags',
]);
