import type { Topic } from './topic.ts';

export const tagsFormat: Topic = {
  name: 'tags-format',
  page: 'coffer-tags',
  summary: 'Format of tag files for "tags import" and "tags apply" (YAML, JSON or CSV)',
  commands: ['tags'],
  parts: [
    {
      heading: 'YAML and JSON',
      blocks: [
        {
          lines: [
            "owns: ['team:*', 'owner']   # the tags that this file manages",
            'workspaces:',
            '  billing-prod: [team:core]',
            '  web-prod: { tags: [team:web], bindings: { owner: shop }, project: Shop }',
            'projects:',
            '  Shop: { owner: shop }',
          ],
        },
        {
          terms: [
            ['tags', 'All tags of the organization, used or unused.'],
            ['workspaces', 'Each with its tags; or with tags, bindings (KEY=VALUE tags) and its project.'],
            ['projects', 'Each with its bindings.'],
            [
              'owns',
              'Patterns of the tags that this file manages. "tags apply" adds and removes only these, so several files can manage one workspace. Default: all tags.',
            ],
          ],
        },
        'A JSON file has the same structure.',
      ],
    },
    {
      heading: 'CSV',
      blocks: [
        {
          lines: [
            'workspace,tag,key,value,project',
            'billing-prod,team:core,,,',
            'web-prod,,owner,shop,Shop',
          ],
        },
        'The first line names the columns; the last three are optional.',
      ],
    },
    {
      heading: 'Commands',
      blocks: [
        '"coffer tags export" writes such a file. "coffer tags import" adds what is missing and removes ' +
          'nothing. "coffer tags apply" prints a plan, asks for confirmation (unless --yes is given), and ' +
          'then makes the tags of each workspace in the file match it; workspaces that are not in the ' +
          'file are left alone.',
      ],
    },
  ],
};
