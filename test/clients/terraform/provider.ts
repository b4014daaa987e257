/** Its module is published by commit: a release is one that ends a series of v1.9.1. */
export const PROVIDER = {
  module: 'github.com/hashicorp/terraform-provider-vault',
  version: 'v1.9.1-0.20260422134934-5e9fcd457a99',
} as const;
