import type { Topic } from './topic.ts';

export const tagsFormat: Topic = {
  name: 'tags-format',
  page: 'coffer-tags',
  summary: 'Files that say which workspace carries which tag, as YAML, JSON or CSV',
  commands: ['tags'],
  parts: [
    {
      heading: 'YAML and JSON',
      blocks: [
        {
          lines: [
            "owns: ['team:*', 'owner']",
            'workspaces:',
            '  billing-prod: [team:core]',
            '  web-prod: { tags: [team:web], bindings: { owner: shop }, project: Shop }',
            'projects:',
            '  Shop: { owner: shop }',
          ],
        },
        {
          terms: [
            ['tags', 'Tags of the pool, whether a workspace carries them or not.'],
            [
              'workspaces',
              'Each with its tags; or with tags, bindings (tags of the form KEY=VALUE) and the project that it lies in.',
            ],
            ['projects', 'Each with its bindings.'],
            [
              'owns',
              'Patterns of the tags that this file is about: "tags apply" leaves all others alone, so that several files can be about one workspace.',
            ],
          ],
        },
        'JSON has the same members.',
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
        'The first line names the columns; the last three may be missing.',
      ],
    },
    {
      heading: 'What is done with them',
      blocks: [
        '"coffer tags export" writes them, "tags import" adds what a file says and takes nothing away. "tags apply" shows what it would do, and does it when you agree or say --yes: each workspace of ' +
          'the file carries afterwards what the file says; workspaces that it does not name stay as they are.',
      ],
    },
  ],
};
