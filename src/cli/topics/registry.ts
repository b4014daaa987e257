import { envelopeFormat, policyFormat, secretsFormat, storeFormat, tagsFormat } from './formats.ts';
import type { Topic } from './topic.ts';

const unlocking: Topic = {
  name: 'unlocking',
  page: 'coffer-unlocking',
  section: 7,
  summary: 'What unlocks a store, and what to do if a passphrase is forgotten',
  commands: ['init', 'unlock', 'lock', 'slots', 'passphrase', 'status', 'rekey'],
  parts: [
    {
      heading: 'What unlocks a store',
      blocks: [
        'A store can have several secrets. Each unlocks the store by itself, and has a key slot in the store; ' +
          '"coffer slots list" lists the slots. "coffer unlock" asks for a secret once, and starts an agent that keeps ' +
          'the store unlocked for later commands.',
        {
          terms: [
            ['passphrase', 'Read from a prompt, COFFER_PASSPHRASE or COFFER_PASSPHRASE_FILE.'],
            ['master key or key file', 'Read from COFFER_MASTER_KEY or COFFER_MASTER_KEY_FILE.'],
            ['password manager', 'Read from the output of the command in COFFER_MASTER_KEY_COMMAND.'],
            ['recovery shares', 'Read from a prompt, or COFFER_SHARES_FILE.'],
            [
              'age or SSH key',
              'The private key is read from COFFER_IDENTITY, COFFER_IDENTITY_FILE, or a usual file such as ' +
                '~/.ssh/id_ed25519. Usual files are only tried on a machine where the key slot was created, or where this ' +
                'key has unlocked the store before.',
            ],
          ],
        },
        'Variables take precedence over the agent, and the agent over a prompt. "coffer status" says which secrets unlock this store.',
      ],
    },
    {
      heading: 'Before a passphrase is forgotten',
      blocks: [
        'A passphrase cannot be reset. Add a second secret now, such as a master key or recovery shares, and keep it ' +
          'elsewhere, e.g. on paper:',
        {
          lines: [
            'umask 077',
            'coffer slots add --raw --label paper > master.key',
            'coffer slots add --shares 3 --threshold 2 > shares.txt',
          ],
        },
      ],
    },
    {
      heading: 'If a passphrase is forgotten',
      blocks: [
        'If another secret unlocks the store, use it to add a new passphrase, as below. Then remove the slot of the ' +
          'old passphrase with "coffer slots remove".',
        { lines: ['COFFER_MASTER_KEY_FILE=master.key coffer slots add --passphrase'] },
        'If nothing else unlocks the store, but an agent still keeps it unlocked ("coffer agent status"), you can ' +
          'decrypt values until the agent locks the store: run "coffer secrets decrypt FILE" for each file that you ' +
          'need. A backup is unlocked by the secrets that the store had when the backup was made. Otherwise the data ' +
          'is lost: create a new store, and replace the lost passwords and tokens in the services that they were for.',
      ],
    },
  ],
};

export const sharing: Topic = {
  name: 'sharing',
  page: 'coffer-sharing',
  section: 7,
  summary: 'How colleagues get access to the encrypted values of a repository',
  commands: ['secrets', 'edit', 'exec', 'team'],
  parts: [
    {
      heading: 'Why a value cannot be decrypted',
      blocks: [
        'A value that was encrypted with a key of a store can only be decrypted with that store. A new store, or a new key of the ' +
          'same name, does not help. To share values, their author moves them to a keyring: a directory .coffer in the repository, ' +
          'with keys that only its members can open, each with an SSH or age key of their own.',
      ],
    },
    {
      heading: 'How the author moves the values to a keyring',
      blocks: [
        'In the repository, for each file with encrypted values:',
        {
          lines: [
            'coffer secrets decrypt .env     # with your store; do not commit the result',
            'coffer team init                # once: creates the keyring, whose first key is called app',
            'coffer secrets encrypt .env     # with the key that .coffer.yaml names for the file',
          ],
        },
        'If .coffer.yaml names no key for the file, add "--key app". If it names another key than app, create that key ' +
          'with "coffer team key add NAME". After "coffer team init", files of the repository use its keyring: to decrypt ' +
          'a file that was encrypted with a store, name the store with "--store DIRECTORY".',
        'Then add each colleague with a public key, and commit:',
        {
          lines: [
            'coffer team add bob bob.pub     # or the text of the key: age1…, "ssh-ed25519 …"',
            'git add .coffer .env && git commit -m "Share the secrets with bob" && git push',
          ],
        },
        '"coffer team add" prints an ID. Give the ID to bob in person or by chat, not through the repository.',
      ],
    },
    {
      heading: 'How the colleague uses them',
      blocks: [
        'Once in each clone, with the ID that the author sent:',
        { lines: ['git pull', 'coffer team trust ID', 'coffer exec -f .env -- npm start'] },
        'No store is needed. If your private key is not ~/.ssh/id_ed25519 or another usual file, set COFFER_IDENTITY_FILE.',
      ],
    },
    {
      heading: 'What remains in the history of git',
      blocks: [
        'Earlier commits still contain the values as they were encrypted with the store. Only that store can decrypt them.',
      ],
    },
  ],
};

/** Steps are those of docs/scripts-and-ci.md, for GitHub only. */
const pipelines: Topic = {
  name: 'pipelines',
  page: 'coffer-pipelines',
  section: 7,
  summary: 'How scripts and CI pipelines (GitHub, GitLab and others) use Coffer',
  commands: ['login', 'logout', 'exec', 'sign'],
  parts: [
    {
      heading: 'In every script',
      blocks: [
        'Without a terminal, Coffer never prompts: secrets come from variables ("coffer help environment"), and destructive commands ' +
          'need "--yes". Results go to standard output, everything else to standard error. Each kind of failure has its own exit code ' +
          '("coffer help exit-codes"). Use "-o json" for results that programs read, and "--if-missing" for commands that may run again.',
      ],
    },
    {
      heading: 'Values of a repository that has a keyring',
      blocks: [
        'To decrypt the values, the job only needs a private key in the variable COFFER_IDENTITY; neither a server ' +
          'nor a store is needed. An admin of the team creates the key once:',
        {
          lines: [
            'coffer team add ci --new        # store the whole output in CI, as the secret COFFER_IDENTITY',
            'git add .coffer && git commit -m "Add the pipeline" && git push',
          ],
        },
        'In the job, with the variable COFFER_IDENTITY set from this secret:',
        { lines: ['coffer exec -f app.env -- ./deploy'] },
      ],
    },
    {
      heading: 'Keys on a server, without a stored secret',
      blocks: [
        'GitHub, GitLab and Kubernetes give each job an ID token that identifies it. The Coffer server checks the ID ' +
          'token, and returns a token of its own that is valid for minutes. The owner of the store sets this up once, ' +
          'with a policy in the file release.hcl ("coffer help policy-format"). For GitHub:',
        {
          lines: [
            'coffer auth enable jwt --path github',
            'coffer auth jwt configure --path github --oidc-discovery-url https://token.actions.githubusercontent.com',
            'coffer policy write release release.hcl',
            'coffer auth jwt write release --path github --user-claim repository --bound-audiences https://coffer.example.com:8200 --bound-claims repository_id=74 ref=refs/heads/main --token-policies release --token-ttl 10m',
          ],
        },
        'In the job, with the variable COFFER_ADDR=https://coffer.example.com:8200:',
        {
          lines: [
            'coffer login jwt role=release --path github',
            'coffer sign release.tar.gz --key releases',
            'coffer logout',
          ],
        },
        'On GitHub, the job needs "permissions: { id-token: write }". On GitLab, it needs "id_tokens: { COFFER_ID_TOKEN: { aud: ADDRESS } }" ' +
          'with the address of the server. Machines without an ID token log in with a secret ID: "coffer login approle --help".',
      ],
    },
    {
      heading: 'A store, without a server',
      blocks: [
        'Keep a backup of the store in the repository ("coffer store backup"; it is encrypted), and the master key ' +
          'of the store in CI, as the secret COFFER_MASTER_KEY. In the job, with this variable:',
        {
          lines: [
            'coffer store restore coffer.backup',
            'coffer transit envelope decrypt --in app.env.coffer --out app.env',
          ],
        },
        'Changes that a job makes in a restored store are lost when the job ends.',
      ],
    },
  ],
};

/** Topics with a page of their own in the manual, in the order of help. */
export const topicPages: readonly Topic[] = [
  unlocking,
  sharing,
  pipelines,
  secretsFormat,
  envelopeFormat,
  storeFormat,
  policyFormat,
  tagsFormat,
];
