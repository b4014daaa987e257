/** What the tokens of real issuers say, beside `iss` and the times, which `Issuer.token` adds. */
import type { Claims } from './signing-key.ts';

/** GitHub Actions: everything but times is text. */
export const githubClaims: Claims = {
  jti: '7c5a7f2e-3a4b-4d0e-9c60-4b2f0f1d8c11',
  sub: 'repo:acme/app:ref:refs/heads/main',
  aud: 'https://github.com/acme',
  ref: 'refs/heads/main',
  sha: '714a629c0b401fdce83e847fc9589983fc6f46bc',
  repository: 'acme/app',
  repository_owner: 'acme',
  repository_owner_id: '65',
  repository_id: '74',
  repository_visibility: 'private',
  run_id: '30433642',
  run_number: '10',
  run_attempt: '1',
  actor: 'octocat',
  actor_id: '12',
  workflow: 'release',
  workflow_ref: 'acme/app/.github/workflows/release.yml@refs/heads/main',
  workflow_sha: '714a629c0b401fdce83e847fc9589983fc6f46bc',
  head_ref: '',
  base_ref: '',
  event_name: 'push',
  ref_type: 'branch',
  ref_protected: 'true',
  job_workflow_ref: 'acme/app/.github/workflows/release.yml@refs/heads/main',
  job_workflow_sha: '714a629c0b401fdce83e847fc9589983fc6f46bc',
  runner_environment: 'github-hosted',
  check_run_id: '55',
};

/** GitLab CI: numbers and booleans are texts, but for `runner_id`. */
export const gitlabClaims: Claims = {
  namespace_id: '72',
  namespace_path: 'my-group',
  project_id: '20',
  project_path: 'my-group/my-project',
  user_id: '1',
  user_login: 'sample-user',
  user_email: 'sample-user@example.com',
  user_access_level: 'developer',
  groups_direct: ['my-group', 'my-group/leads'],
  pipeline_id: '574',
  pipeline_source: 'push',
  job_id: '302',
  ref: 'main',
  ref_type: 'branch',
  ref_path: 'refs/heads/main',
  ref_protected: 'true',
  environment: 'prod',
  environment_protected: 'true',
  deployment_tier: 'production',
  runner_id: 1,
  runner_environment: 'self-hosted',
  sha: '714a629c0b401fdce83e847fc9589983fc6f46bc',
  project_visibility: 'private',
  ci_config_ref_uri: 'gitlab.example.com/my-group/my-project//.gitlab-ci.yml@refs/heads/main',
  ci_config_sha: '714a629c0b401fdce83e847fc9589983fc6f46bc',
  jti: '235b3a54-b797-45c7-ae9a-f72d7bc6ef5b',
  sub: 'project_path:my-group/my-project:ref_type:branch:ref:main',
  aud: 'https://vault.example.com',
};

/** A projected token of a service account. */
export const kubernetesClaims: Claims = {
  aud: ['https://my-audience.example.com'],
  jti: 'aed34954-b33a-4142-b1ec-389d6bbb4936',
  'kubernetes.io': {
    namespace: 'ns',
    node: { name: 'n1', uid: '646e7c5e-32d6-4d42-9dbd-e504e6cbe6b1' },
    pod: { name: 'p', uid: '5e0bd49b-f040-43b0-99b7-22765a53f7f3' },
    serviceaccount: { name: 'sa', uid: '14ee3fa4-a7e2-420f-9f9a-dbc4507c3798' },
    warnafter: 1_729_605_247,
  },
  sub: 'system:serviceaccount:ns:sa',
};
